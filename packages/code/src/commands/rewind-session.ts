import { type SessionId, sessionLog } from "@keelson/protocol";
import { foldWhole } from "keelson/session";
import type { CodingRunner } from "../core/coding-runner.ts";
import type { CommandHost } from "../core/command-host.ts";
import type { Stores } from "../core/stores.ts";
import { historiesOf, type UndoResult } from "../history/index.ts";
import type { SessionsAction } from "../options/command-line.ts";
import { UsageError } from "../options/usage-error.ts";
import { undoLines } from "../render/undo-lines.ts";
import type { Style } from "../text/style.ts";

export type RewindAction = Extract<SessionsAction, { readonly type: "rewind" }>;

export interface Rewound {
  readonly data: unknown;
  /** False if a file was left as it is. */
  readonly isWhole: boolean;
  lines(style: Style): string[];
}

/**
 * Goes back to the end of a turn: with the conversation, with the files that were changed since, or with both. The files go first: if they cannot, the
 * conversation stays where it is.
 */
export async function rewindSession(stores: Stores, runner: CodingRunner, action: RewindAction, host: CommandHost): Promise<Rewound> {
  const { id, turn, rewinds = "conversation", takesUnclear = false } = action;
  const since = rewinds === "conversation" ? 0 : await endOfTurn(stores, id, turn);
  const results: { readonly root: string; readonly result: UndoResult }[] = [];
  if (rewinds !== "conversation") {
    const { run } = await runner.sessions.get(id);
    // Rejects, before a file is touched, because the conversation cannot go back under a run that is not finished.
    if (rewinds === "both" && run !== undefined && run.status !== "ended") await runner.sessions.rewind(id, turn);
    for (const history of historiesOf(stores.home.path, id, host)) {
      const result = await history.undo(id, { since }, { takesUnclear });
      results.push({ root: history.store.root, result });
    }
  }
  if (rewinds !== "files") await runner.sessions.rewind(id, turn);
  const left = results.flatMap(({ result }) => result.left);
  return {
    data: {
      session: id,
      turn,
      ...(rewinds !== "conversation" && {
        files: results.flatMap(({ result }) => result.done.map(({ path }) => path)),
        left: left.map(({ path, reason }) => ({ path, reason })),
      }),
    },
    isWhole: left.length === 0,
    lines(style) {
      const undone = results.filter(({ result }) => result.steps.length > 0);
      return [
        ...(rewinds === "files" ? [] : [`rewound to the end of turn ${turn}`]),
        ...undone.flatMap(({ root, result }) => undoLines(result, { style, root, action: "undo" })),
        ...(rewinds !== "conversation" && undone.length === 0 ? ["no file was changed since"] : []),
      ];
    },
  };
}

/** Returns when a turn of a session ended; 0 for the time before the first. Unix ms. */
async function endOfTurn({ log, blobs }: Stores, id: string, turn: number): Promise<number> {
  if (turn === 0) return 0;
  const { turnBorders } = await foldWhole(log, blobs, id as SessionId);
  const end = turnBorders[turn - 1];
  if (end === undefined)
    throw new UsageError(
      `session ${id} has ${turnBorders.length} complete turns, and no turn ${turn}`,
      "keelson sessions show says what it holds.",
    );
  for await (const { at } of log.read(sessionLog(end.session), { after: end.seq - 1 })) return at;
  return Number.POSITIVE_INFINITY;
}
