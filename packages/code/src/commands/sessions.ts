import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import type { EventLog } from "@keelson/protocol";
import type { RehearsedSession } from "keelson";
import type { Retention } from "keelson/session";
import type { RewindAction } from "./rewind-session.ts";
import { openSessionRunner } from "../core/session-runner.ts";
import type { CodingRunner } from "../core/coding-runner.ts";
import { listedSession, listSessions, sessionNamed } from "../core/listed-session.ts";
import { resumeCost } from "../core/resume-cost.ts";
import { forkSession } from "../core/new-session.ts";
import { folderOfTags, worktreeOfTags } from "../core/session-folder.ts";
import type { CommandHost } from "../core/command-host.ts";
import { givenPath } from "../core/given-path.ts";
import { openStores, type Stores } from "../core/stores.ts";
import type { SessionFilesAction, SessionsAction, SessionsCommand } from "../options/command-line.ts";
import { checkedLines, checkedProblems } from "../render/checked-lines.ts";
import { resumeCostLine } from "../render/resume-cost-line.ts";
import { textOfMessage } from "../render/describe-event.ts";
import { loadReading, type Reading } from "../markdown/reading.ts";
import { sessionLines, transcriptLines } from "../render/session-lines.ts";
import { createStyle, type Style, wantsColors } from "../text/style.ts";

/** Lists, shows and changes sessions. @returns the exit code */
export async function sessions({ action, json, cwd }: SessionsCommand, host: CommandHost): Promise<number> {
  const { stdout, environment } = host;
  await using stores = await openStores(environment);
  const runner = openSessionRunner(stores);
  const folder = await realpath(givenPath(host.cwd, cwd ?? ".", host.environment)).catch(() =>
    givenPath(host.cwd, cwd ?? ".", host.environment),
  );
  const result =
    action.type === "rehearse"
      ? await rehearse(stores, action, host)
      : isOfFiles(action)
        ? await actOnFiles(stores, runner, action, host)
        : action.type === "search"
          ? await search(stores, runner, action)
          : action.type === "rewind"
            ? await rewind(stores, runner, await namedIn(action, stores.log), host)
            : await act(runner, await namedIn(action, stores.log), folder, host.now());
  await forget(stores, action, result, host);
  if (action.type === "export" && action.file === "-") return 0;
  const style = createStyle(wantsColors(stdout, environment));
  // A pipe receives the Markdown as it was written.
  const isRead = result.texts !== undefined && !json && (stdout.isTTY === true || style.colors);
  const reading = isRead ? await loadReading({ colors: style.colors, environment }) : undefined;
  await reading?.load(result.texts ?? []);
  stdout.write(
    json ? `${JSON.stringify(result.data)}\n` : `${result.lines(style, stdout.columns ?? 100, host.now(), reading).join("\n")}\n`,
  );
  return result.code ?? 0;
}

interface Result {
  readonly data: unknown;
  /** Exit code. Default 0. */
  readonly code?: number;
  /** Markdown that the lines show. */
  readonly texts?: readonly string[];
  /** @param reading renders that Markdown; default: it is shown as it was written */
  lines(style: Style, columns: number, now: number, reading?: Reading): string[];
}

type SearchAction = Extract<SessionsAction, { readonly type: "search" }>;
type RehearseAction = Extract<SessionsAction, { readonly type: "rehearse" }>;

const FILES: ReadonlySet<string> = new Set(["export", "import", "check", "repair", "prune"] satisfies SessionFilesAction["type"][]);

function isOfFiles(action: SessionsAction): action is SessionFilesAction {
  return FILES.has(action.type);
}

/** Loaded when it is asked for: few commands are about whole sessions. */
async function actOnFiles(stores: Stores, runner: CodingRunner, action: SessionFilesAction, host: CommandHost): Promise<Result> {
  if (action.type === "check") {
    const { checkSessions } = await import("./check-sessions.ts");
    const { session } = action;
    const checked = await checkSessions(stores, runner, session === undefined ? undefined : await sessionNamed(stores.log, session));
    return { data: checked, code: checkedProblems(checked) === 0 ? 0 : 1, lines: (style) => checkedLines(checked, style) };
  }
  if (action.type === "repair") {
    const { repairSession } = await import("./repair-session.ts");
    const { repairedLines } = await import("../render/repaired-lines.ts");
    const found = await repairSession(stores, runner, await sessionNamed(stores.log, action.id));
    const isSound = found.problems.length === 0 || found.repaired !== undefined;
    return { data: found, code: isSound ? 0 : 1, lines: (style) => repairedLines(found, style) };
  }
  if (action.type === "prune") {
    const { pruneSessions } = await import("./prune-sessions.ts");
    const { prunedLines } = await import("../render/pruned-lines.ts");
    const pruned = await pruneSessions(stores, runner, action, host);
    const isDone = pruned.spared.every(({ because }) => because !== "not-archived");
    return { data: pruned, code: isDone ? 0 : 1, lines: (style, _, now) => prunedLines(pruned, action.dryRun, now, style) };
  }
  const { exportToFile, importFromFile } = await import("./session-files.ts");
  if (action.type === "export") {
    const id = await sessionNamed(stores.log, action.id);
    const file = await exportToFile(stores, id, action.file, host);
    return done({ session: id, file }, `exported to ${file}`);
  }
  const imported = await importFromFile(stores, action.file, action.as, host);
  return done(imported, `imported: ${imported.session}`);
}

/** Some files were left as they are. */
const LEFT_FILES = 1;

async function rewind(stores: Stores, runner: CodingRunner, action: RewindAction, host: CommandHost): Promise<Result> {
  const { rewindSession } = await import("./rewind-session.ts");
  const { data, isWhole, lines } = await rewindSession(stores, runner, action, host);
  return { data, code: isWhole ? 0 : LEFT_FILES, lines };
}

/** Deletes what is kept of the files of sessions that were deleted. */
async function forget({ home }: Stores, action: SessionsAction, { data }: Result, host: CommandHost): Promise<void> {
  if (action.type !== "delete" && (action.type !== "prune" || action.dryRun)) return;
  const { forgetHistories } = await import("../history/index.ts");
  const gone =
    action.type === "delete" ? [(data as { readonly session: string }).session] : (data as Retention).deleted.map(({ session }) => session);
  await forgetHistories(home.path, gone, host);
}

/** Of `sessions rehearse`, where a session would not go on. */
const WOULD_NOT_GO_ON = 5;

async function rehearse(stores: Stores, { session }: RehearseAction, host: CommandHost): Promise<Result> {
  const { rehearseSessions } = await import("./rehearse-sessions.ts");
  const { rehearsedLines } = await import("../render/rehearsed-lines.ts");
  const id = session === undefined ? undefined : await sessionNamed(stores.log, session);
  const rehearsed: RehearsedSession[] = [];
  for await (const found of rehearseSessions(stores, host, id)) rehearsed.push(found);
  return {
    data: rehearsed,
    code: rehearsed.every(({ isSafe }) => isSafe) ? 0 : WOULD_NOT_GO_ON,
    lines: (style) => rehearsedLines(rehearsed, style),
  };
}

async function search(stores: Stores, runner: CodingRunner, { text, session, limit }: SearchAction): Promise<Result> {
  const { searchLines } = await import("../render/search-lines.ts");
  const found = await runner.sessions.search(text, {
    ...(session !== undefined && { session: await sessionNamed(stores.log, session) }),
    ...(limit !== undefined && { limit }),
  });
  return { data: found, lines: (style, columns, now) => searchLines(found, { style, columns, now }) };
}

async function act(
  runner: CodingRunner,
  action: Exclude<SessionsAction, SessionFilesAction | RehearseAction | SearchAction | RewindAction>,
  folder: string,
  startedAt: number,
): Promise<Result> {
  const kept = runner.sessions;
  switch (action.type) {
    case "list": {
      const { type: _, all, since, ...fitting } = action;
      const fromTime = since && ("at" in since ? since.at : startedAt - since.ageMs);
      const listed = await listSessions(kept, all ? undefined : folder, { ...fitting, ...(fromTime !== undefined && { since: fromTime }) });
      const isAny = since === undefined && Object.keys(fitting).length === 0;
      const empty = all
        ? `${isAny ? "There are no sessions yet" : "No session fits"}.`
        : `${isAny ? `There are no sessions of ${folder}` : `No session of ${folder} fits`}; -a lists those of every folder.`;
      return {
        data: listed,
        lines: (style, columns, now) =>
          listed.length === 0 ? [empty] : listed.flatMap((session) => sessionLines(session, { style, columns, now })),
      };
    }
    case "show": {
      const view = await kept.get(action.id);
      const session = await listedSession(kept, view.metadata);
      const resume = resumeCost(view, startedAt);
      return {
        data: { ...session, ...(view.run && { run: view.run }), ...(resume && { resume }), messages: view.messages },
        texts: view.messages.map(textOfMessage),
        lines: (style, columns, now, reading) => [
          ...sessionLines(session, { style, columns, now }),
          ...(resume ? [style.dim(`  ${resumeCostLine(resume)}`)] : []),
          ...(view.run ? [`  last run ${view.run.id}: ${view.run.reason ?? view.run.status}`] : []),
          "",
          ...transcriptLines(view.messages, { style, columns, reading }),
        ],
      };
    }
    case "fork": {
      const { id, name, turn, seq } = action;
      const session = await forkSession(runner, id, undefined, {
        ...(name !== undefined && { name }),
        ...(turn !== undefined && { turn }),
        ...(seq !== undefined && { seq }),
      });
      return done({ session }, `forked: ${session}`);
    }
    case "compact": {
      const { id, keep } = action;
      await runner.compact(id, keep === undefined ? {} : { keep });
      return done({ session: id, ...(keep !== undefined && { keep }) }, "its conversation is shortened before its next turn");
    }
    case "rename":
      await kept.rename(action.id, action.name);
      return done({ session: action.id, name: action.name }, "renamed");
    case "tag":
      for (const tag of action.tags) await kept.tag(action.id, tag);
      return done({ session: action.id, tags: action.tags }, "tagged");
    case "delete": {
      // A damaged session can be deleted, too.
      const tags = await kept.get(action.id).then(
        ({ metadata }) => metadata.tags,
        () => [],
      );
      await kept.delete(action.id);
      const folder = worktreeOfTags(tags) === undefined ? undefined : folderOfTags(tags);
      const worktree = folder !== undefined && existsSync(folder) ? folder : undefined;
      return done(
        { session: action.id, ...(worktree !== undefined && { worktree }) },
        worktree === undefined ? "deleted" : `deleted; its worktree is kept: ${worktree} (git worktree remove removes it)`,
      );
    }
  }
}

function done(data: object, line: string): Result {
  return { data, lines: () => [line] };
}

/** The same action on the session whose id begins as it was given. */
async function namedIn<A extends SessionsAction>(action: A, log: EventLog): Promise<A> {
  return "id" in action ? { ...action, id: await sessionNamed(log, action.id) } : action;
}
