import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import type { EventLog } from "@keelson/protocol";
import { openSessionRunner } from "../core/session-runner.ts";
import type { CodingRunner } from "../core/coding-runner.ts";
import { listedSession, listSessions, sessionNamed } from "../core/listed-session.ts";
import { forkSession } from "../core/new-session.ts";
import type { CommandHost } from "../core/command-host.ts";
import { openStores } from "../core/stores.ts";
import type { SessionsAction, SessionsCommand } from "../options/command-line.ts";
import { sessionLines, transcriptLines } from "../render/session-lines.ts";
import { createStyle, type Style, wantsColors } from "../render/style.ts";

/** Lists, shows and changes sessions. @returns the exit code */
export async function sessions({ action, json, cwd }: SessionsCommand, host: CommandHost): Promise<number> {
  const { stdout, environment } = host;
  await using stores = await openStores(environment);
  const runner = openSessionRunner(stores);
  const folder = await realpath(resolve(host.cwd, cwd ?? ".")).catch(() => resolve(host.cwd, cwd ?? "."));
  const result = await act(runner, await namedIn(action, stores.log), folder);
  const style = createStyle(wantsColors(stdout, environment));
  stdout.write(json ? `${JSON.stringify(result.data)}\n` : `${result.lines(style, stdout.columns ?? 100, host.now()).join("\n")}\n`);
  return 0;
}

interface Result {
  readonly data: unknown;
  lines(style: Style, columns: number, now: number): string[];
}

async function act(runner: CodingRunner, action: SessionsAction, folder: string): Promise<Result> {
  const kept = runner.sessions;
  switch (action.type) {
    case "list": {
      const listed = await listSessions(kept, action.all ? undefined : folder);
      const empty = action.all ? "There are no sessions yet." : `There are no sessions of ${folder}; -a lists those of every folder.`;
      return {
        data: listed,
        lines: (style, columns, now) =>
          listed.length === 0 ? [empty] : listed.flatMap((session) => sessionLines(session, { style, columns, now })),
      };
    }
    case "show": {
      const view = await kept.get(action.id);
      const session = await listedSession(kept, view.metadata);
      return {
        data: { ...session, ...(view.run && { run: view.run }), messages: view.messages },
        lines: (style, columns, now) => [
          ...sessionLines(session, { style, columns, now }),
          ...(view.run ? [`  last run ${view.run.id}: ${view.run.reason ?? view.run.status}`] : []),
          "",
          ...transcriptLines(view.messages, { style, columns }),
        ],
      };
    }
    case "fork": {
      const { id, name, turn } = action;
      const session = await forkSession(runner, id, undefined, {
        ...(name !== undefined && { name }),
        ...(turn !== undefined && { turn }),
      });
      return done({ session }, `forked: ${session}`);
    }
    case "rewind":
      await kept.rewind(action.id, action.turn);
      return done({ session: action.id, turn: action.turn }, `rewound to the end of turn ${action.turn}`);
    case "rename":
      await kept.rename(action.id, action.name);
      return done({ session: action.id, name: action.name }, "renamed");
    case "tag":
      for (const tag of action.tags) await kept.tag(action.id, tag);
      return done({ session: action.id, tags: action.tags }, "tagged");
    case "delete":
      await kept.delete(action.id);
      return done({ session: action.id }, "deleted");
  }
}

function done(data: object, line: string): Result {
  return { data, lines: () => [line] };
}

/** The same action on the session whose id begins as it was given. */
async function namedIn(action: SessionsAction, log: EventLog): Promise<SessionsAction> {
  return "id" in action ? { ...action, id: await sessionNamed(log, action.id) } : action;
}
