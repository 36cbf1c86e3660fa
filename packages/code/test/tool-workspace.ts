import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Executor, JsonValue, Tool, ToolCall, ToolOutput } from "@keelson/protocol";
import { createDiskVfs, createProcessExecutor, type DiskVfs } from "keelson/environment";
import { createMemoryBlobStore } from "keelson/state";
import { createCodingTools } from "../src/tools/index.ts";
import { createWorkspace } from "../src/workspace/create-workspace.ts";
import type { FileHistory } from "../src/workspace/file-history.ts";
import type { Workspace } from "../src/workspace/workspace.ts";

/** A real folder with real tools on it. */
export interface ToolWorkspace extends Disposable {
  readonly root: string;
  readonly files: DiskVfs;
  /** The context of the tools. */
  readonly context: Workspace;
  readonly tools: readonly Tool<unknown, Workspace>[];
  put(path: string, content: string | Uint8Array): void;
  text(path: string): string;
  tool(name: string): Tool<unknown, Workspace>;
  /** A call of a tool in this folder. */
  toolCall(changes?: Partial<ToolCall<Workspace>>): ToolCall<Workspace>;
  /** Checks the input as the runtime does, and executes. */
  call(name: string, input: JsonValue, changes?: Partial<ToolCall<Workspace>>): Promise<ToolOutput>;
  /** As `call`, for what it says in text. An error gives its message. */
  say(name: string, input: JsonValue, changes?: Partial<ToolCall<Workspace>>): Promise<string>;
}

export function createToolWorkspace(
  options: { readonly exec?: Executor; readonly ripgrep?: false; wrap?(files: DiskVfs): DiskVfs } = {},
): ToolWorkspace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "keelson-tools-")));
  const disk = createDiskVfs({ root, ripgrep: options.ripgrep });
  const files = options.wrap?.(disk) ?? disk;
  const exec = options.exec ?? createProcessExecutor({ cwd: root, killGraceMs: 100 });
  const tools = createCodingTools({ exec, blobs: createMemoryBlobStore() });
  const context = createWorkspace({ files, history: QUIET_HISTORY, tools: () => tools });
  const tool = (name: string): Tool<unknown, Workspace> => {
    const found = tools.find((candidate) => candidate.name === name);
    if (found === undefined) throw new Error(`no tool ${name}`);
    return found;
  };
  const workspace: ToolWorkspace = {
    root,
    files,
    context,
    tools,
    tool,
    toolCall: (changes) => ({ ...toolCall(), context, ...changes }),
    put(path, content) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    },
    text: (path) => readFileSync(join(root, path), "utf8"),
    async call(name, input, changes) {
      const parsed = await tool(name).parse(input);
      if (parsed.issues !== undefined)
        throw new Error(parsed.issues.map(({ path = [], message }) => `${path.join(".")} ${message}`).join("; "));
      return tool(name).execute(parsed.value, workspace.toolCall(changes));
    },
    async say(name, input, changes) {
      try {
        const output = await workspace.call(name, input, changes);
        return typeof output === "string" ? output : textOfOutput(output);
      } catch (error) {
        return `ERROR ${(error as Error).message}`;
      }
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
  return workspace;
}

/** Keeps nothing, and says nothing of it. */
export const QUIET_HISTORY: FileHistory = {
  keep: async () => {},
  losses: async () => [],
  around: async (_call, run) => ({ result: await run(), notes: [], changed: [] }),
};

export function toolCall(changes: Partial<ToolCall> = {}): ToolCall {
  return {
    callId: "c_1" as ToolCall["callId"],
    runId: "r_1" as ToolCall["runId"],
    session: "s_1" as ToolCall["session"],
    agent: "coder",
    idempotencyKey: "k_1",
    attempt: 1,
    signal: new AbortController().signal,
    stopping: new AbortController().signal,
    progress() {},
    context: undefined,
    metadata: {},
    ...changes,
  };
}

function textOfOutput(output: ToolOutput): string {
  const { content = [] } = output as { readonly content?: readonly { readonly type: string; readonly text?: string }[] };
  return content.map((part) => part.text ?? `<${part.type}>`).join("\n");
}
