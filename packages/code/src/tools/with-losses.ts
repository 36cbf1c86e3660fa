import type { CallEffects, CallPlace } from "@keelson/protocol";
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
  const history = where.context?.history;
  if (history === undefined || where.environment !== undefined) return effects;
  const { destroys = [], commands, unknown = [], confined } = effects;
  const loses = destroys.length === 0 ? [] : await history.losses(destroys, { ownFolders: confined?.ownFolders ?? [] });
  const isAll =
    unknown.length === 0 && commands?.every(({ readOnly, destroysNamed }) => readOnly === true || destroysNamed === true) === true;
  return { ...effects, ...(loses.length > 0 && { loses }), ...(!isAll && { mayLose: UNKNOWN }) };
}
