import type { CallEffects, CallPlace } from "@keelson/protocol";
import { toolFailure } from "./call-files.ts";
import type { FileHistory } from "../workspace/file-history.ts";

const UNKNOWN = "What it deletes beyond the files that undo covers cannot be brought back.";

/**
 * Adds to the effects of a command line what of it could not be undone. A run in an environment has files that no history keeps, and that no one
 * expects to last.
 */
export async function withLosses(
  effects: CallEffects,
  where: CallPlace<{ readonly history: Pick<FileHistory, "losses"> }>,
): Promise<CallEffects> {
  if (where.environment !== undefined) return effects;
  const { destroys = [], commands, unknown = [], confined } = effects;
  const history = where.context?.history;
  if (history === undefined && destroys.length > 0)
    throw toolFailure("bash", "What undo covers is not known here, because there is no workspace.");
  if (history === undefined) return effects;
  const loses = destroys.length === 0 ? [] : await history.losses(destroys, { ownFolders: confined?.ownFolders ?? [] });
  const isAll =
    unknown.length === 0 && commands?.every(({ readOnly, destroysNamed }) => readOnly === true || destroysNamed === true) === true;
  return { ...effects, ...(loses.length > 0 && { loses }), ...(!isAll && { mayLose: UNKNOWN }) };
}
