import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Executor, JsonValue, Tool, ToolCall, ToolOutput } from "@keelson/protocol";
import { createDiskVfs, createProcessExecutor, type DiskVfs } from "keelson/environment";
import { createMemoryBlobStore } from "keelson/state";
import { createCodingTools } from "../src/tools/index.ts";

/** A real folder with real tools on it. */
export interface ToolWorkspace extends Disposable {
  readonly root: string;
  readonly files: DiskVfs;
  readonly tools: readonly Tool[];
  put(path: string, content: string | Uint8Array): void;
  text(path: string): string;
  tool(name: string): Tool;
  /** Checks the input as the runtime does, and executes. */
  call(name: string, input: JsonValue, changes?: Partial<ToolCall>): Promise<ToolOutput>;
  /** As `call`, for what it says in text. An error gives its message. */
  say(name: string, input: JsonValue, changes?: Partial<ToolCall>): Promise<string>;
}

export function createToolWorkspace(
  options: { readonly exec?: Executor; readonly ripgrep?: false; wrap?(files: DiskVfs): DiskVfs } = {},
): ToolWorkspace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "keelson-tools-")));
  const disk = createDiskVfs({ root, ripgrep: options.ripgrep });
  const files = options.wrap?.(disk) ?? disk;
  const exec = options.exec ?? createProcessExecutor({ cwd: root, killGraceMs: 100 });
  const tools = createCodingTools({ files, exec, blobs: createMemoryBlobStore() });
  const tool = (name: string): Tool => {
    const found = tools.find((candidate) => candidate.name === name);
    if (found === undefined) throw new Error(`no tool ${name}`);
    return found;
  };
  const workspace: ToolWorkspace = {
    root,
    files,
    tools,
    tool,
    put(path, content) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    },
    text: (path) => readFileSync(join(root, path), "utf8"),
    async call(name, input, changes) {
      const parsed = await tool(name).parse(input);
      if (parsed.issues !== undefined)
        throw new Error(parsed.issues.map(({ path = [], message }) => `${path.join(".")} ${message}`).join("; "));
      return tool(name).execute(parsed.value, toolCall(changes));
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
