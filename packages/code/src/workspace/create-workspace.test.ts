import type { JsonValue, ObservableEvent } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toolCall, createToolWorkspace, type ToolWorkspace } from "../../test/tool-workspace.ts";
import { createWorkspace } from "./create-workspace.ts";
import type { Workspace } from "./workspace.ts";

let folder: ToolWorkspace;
beforeEach(() => {
  folder = createToolWorkspace();
  folder.put("src/inner/a.txt", "a\n");
});
afterEach(() => folder[Symbol.dispose]());

describe("a workspace", () => {
  it("has one working directory for all its tools, which a cd moves [TC-01] [TC-02]", async () => {
    const kept: { [name: string]: JsonValue } = {};
    const say = (name: string, input: JsonValue): Promise<string> =>
      folder.say(name, input, { kept: { ...kept }, keep: (key, value) => void (kept[key] = value) });
    await say("bash", { command: "cd src" });
    await say("change_dir", { path: "inner" });
    expect(await say("read_file", { path: "a.txt" })).toContain("\ta");
    expect(await say("bash", { command: "pwd" })).toContain(`${folder.root}/src/inner\n`);
    expect(await say("change_dir", { path: "../../.." })).toMatch(/^ERROR/);
    expect(await say("change_dir", { path: "a.txt" })).toMatch(
      /^ERROR src\/inner\/a\.txt is not a folder; the working directory stays src\/inner/,
    );
    expect(await say("glob", { pattern: "*" })).toBe("src/inner/a.txt");
  });

  it("is isolated with the same parts, and the session of the child moves a working directory of its own [TC-17] [TC-23]", async () => {
    const graph = {};
    const workspace = createWorkspace({ files: folder.files, graph, tools: () => folder.tools });
    const child = workspace.isolate("src");
    const [mine, its]: { [name: string]: JsonValue }[] = [{}, {}];
    const say = (context: Workspace, kept: { [name: string]: JsonValue } = {}, command: string): Promise<string> =>
      folder.say("bash", { command }, { context, kept: { ...kept }, keep: (key, value) => void (kept[key] = value) });
    expect(await say(child, its, "pwd")).toContain(`${folder.root}/src\n`);
    await say(child, its, "cd inner");
    await say(workspace, mine, "true");
    expect(await say(child, its, "pwd")).toContain(`${folder.root}/src/inner\n`);
    expect(await say(workspace, mine, "pwd")).toContain(`${folder.root}\n`);
    expect(child.isolate("src/inner").start).toBe("src/inner");
    expect(child.graph).toBe(graph);
    expect(child.tools()).toBe(folder.tools);
    for (const part of ["files", "texts", "changes", "seen", "history", "telemetry"] as const) expect(child[part]).toBe(workspace[part]);
  });

  it("always has telemetry, which is off unless there is a listener, and names the session [TC-13] [TC-22]", async () => {
    expect(createWorkspace({ files: folder.files }).telemetry.isOn).toBe(false);
    expect(createWorkspace({ files: folder.files, session: "s_1" }).telemetry.isOn).toBe(false);
    const events: ObservableEvent[] = [];
    const workspace = createWorkspace({ files: folder.files, session: "s_1", onTelemetry: (event) => events.push(event) });
    await workspace.texts.read("src/inner/a.txt", { signal: new AbortController().signal });
    expect(events).toMatchObject([{ name: "file-read", attributes: { session: "s_1", cached: false } }]);
  });

  it("turns telemetry off if its listener throws, and the tool goes on", async () => {
    const workspace = createWorkspace({
      files: folder.files,
      onTelemetry() {
        throw new Error("broken");
      },
    });
    expect((await workspace.texts.read("src/inner/a.txt", { signal: new AbortController().signal }))?.lines).toEqual(["a"]);
    expect(workspace.telemetry.isOn).toBe(false);
  });

  it("drops the text of a file that a tool changes [TC-21]", async () => {
    const { texts, changes } = createWorkspace({ files: folder.files });
    const { signal } = new AbortController();
    await texts.read("src/inner/a.txt", { signal });
    await changes.write("src/inner/a.txt", Buffer.from("b\n"), toolCall(), { ifUnchanged: Buffer.from("a\n") });
    expect((await texts.read("src/inner/a.txt", { signal }))?.lines).toEqual(["b"]);
  });

  it("without a history says that a command cannot be undone", async () => {
    const { history } = createWorkspace({ files: folder.files });
    const { result, notes } = await history.around(toolCall(), async () => 7);
    expect(result).toBe(7);
    expect(notes.join()).toContain("cannot be undone");
  });
});
