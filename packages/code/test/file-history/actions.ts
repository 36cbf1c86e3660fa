import { execFile, execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ToolHistory } from "../../src/history/index.ts";

/** An action of an agent on a project: a tool that edits a file, or a shell command. */
export type AgentAction =
  | { readonly type: "write"; readonly path: string; readonly content: string }
  | { readonly type: "delete"; readonly path: string }
  | { readonly type: "move"; readonly from: string; readonly to: string }
  | { readonly type: "shell"; readonly line: string };

/** An action of the person, which the history does not see. */
export interface OwnAction {
  readonly type: "own";
  readonly path: string;
  /** Absent: the file is deleted. */
  readonly content?: string;
}

const GIT_ENVIRONMENT = {
  GIT_AUTHOR_NAME: "agent",
  GIT_AUTHOR_EMAIL: "agent@example.com",
  GIT_COMMITTER_NAME: "agent",
  GIT_COMMITTER_EMAIL: "agent@example.com",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_EDITOR: "true",
};

/** Runs a shell line. Its failure is none of the test: a command may fail half-way. */
export function shell(cwd: string, line: string): string {
  try {
    return execFileSync("bash", ["-c", line], {
      cwd,
      stdio: "pipe",
      timeout: 30_000,
      env: { ...process.env, ...GIT_ENVIRONMENT, HOME: cwd },
    }).toString();
  } catch {
    return "";
  }
}

/** The same, while this process goes on. */
function shellBeside(cwd: string, line: string): Promise<void> {
  return new Promise((resolve) => {
    const child = execFile("bash", ["-c", line], { cwd, timeout: 30_000, env: { ...process.env, ...GIT_ENVIRONMENT, HOME: cwd } }, () =>
      resolve(),
    );
    child.stdin?.end();
  });
}

let calls = 0;

/** Does an action of the agent under a history. */
export async function act(history: ToolHistory, cwd: string, action: AgentAction, session = "s"): Promise<void> {
  const call = { callId: `call-${++calls}`, runId: "run", session, signal: new AbortController().signal } as never;
  switch (action.type) {
    case "shell":
      await history.around(call, () => shellBeside(cwd, action.line), { title: action.line });
      return;
    case "write":
      return quietly(() =>
        history.edit([{ path: action.path, content: Buffer.from(action.content) }], call, "write", async () => write(cwd, action)),
      );
    case "delete":
      return quietly(() =>
        history.edit([{ path: action.path, content: null }], call, "delete", async () => rmSync(join(cwd, action.path))),
      );
    case "move":
      return quietly(() =>
        history.edit([{ path: action.from, content: null }, { path: action.to }], call, "move", async () => move(cwd, action)),
      );
  }
}

/** Does an action of the person. */
export function actAsPerson(cwd: string, { path, content }: OwnAction): void {
  try {
    if (content === undefined) rmSync(join(cwd, path));
    else write(cwd, { path, content });
  } catch {
    // The path is taken by a folder, say.
  }
}

function write(cwd: string, { path, content }: { readonly path: string; readonly content: string }): void {
  const at = join(cwd, path);
  mkdirSync(dirname(at), { recursive: true });
  // Named as the tools that edit files name it: a process may be killed before it is in its place.
  const draft = join(dirname(at), `.keelson-${randomBytes(9).toString("base64url")}.tmp`);
  writeFileSync(draft, content);
  if (statSync(at, { throwIfNoEntry: false })?.isDirectory() === true) rmSync(draft);
  else renameSync(draft, at);
}

function move(cwd: string, { from, to }: { readonly from: string; readonly to: string }): void {
  readFileSync(join(cwd, from));
  if (statSync(join(cwd, to), { throwIfNoEntry: false }) !== undefined) throw new Error("taken");
  mkdirSync(dirname(join(cwd, to)), { recursive: true });
  renameSync(join(cwd, from), join(cwd, to));
}

async function quietly(change: () => Promise<void>): Promise<void> {
  try {
    await change();
  } catch {
    // A tool fails on a file that is not there.
  }
}
