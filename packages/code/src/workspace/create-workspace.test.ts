import type { ObservableEvent, Tool } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toolCall, createToolWorkspace, type ToolWorkspace } from "../../test/tool-workspace.ts";
import { createWorkspace } from "./create-workspace.ts";

let folder: ToolWorkspace;
beforeEach(() => {
  folder = createToolWorkspace();
  folder.put("src/inner/a.txt", "a\n");
});
afterEach(() => folder[Symbol.dispose]());

describe("a workspace", () => {
  it("has one working directory, which all that hold it see move [TC-01] [TC-02]", async () => {
    const workspace = createWorkspace({ files: folder.files });
    const { directory } = workspace;
    expect(directory.path).toBe(folder.root);
    await workspace.directory.change("src");
    await workspace.directory.change("inner");
    expect(directory.path).toBe(`${folder.root}/src/inner`);
    // Changes that are asked for together are made one after the other.
    await Promise.all([directory.change(".."), directory.change("..")]);
    expect(directory.path).toBe(folder.root);
  });

  it("stays where it is if the folder is missing, a file or outside", async () => {
    const { directory } = createWorkspace({ files: folder.files });
    await expect(directory.change("missing")).rejects.toMatchObject({ failure: { kind: "not-found" } });
    await expect(directory.change("src/inner/a.txt")).rejects.toMatchObject({ failure: { kind: "not-directory" } });
    await expect(directory.change("..")).rejects.toMatchObject({ failure: { kind: "path-traversal" } });
    expect(directory.path).toBe(folder.root);
    await directory.change("src");
    expect(directory.path).toBe(`${folder.root}/src`);
  });

  it("is isolated with the same parts and a working directory of its own [TC-17] [TC-23]", async () => {
    const [graph, tools] = [{}, [] as readonly Tool[]];
    const workspace = createWorkspace({ files: folder.files, graph, tools: () => tools });
    await workspace.directory.change("src");
    const child = workspace.isolate();
    expect(child.directory.path).toBe(`${folder.root}/src`);
    await child.directory.change("inner");
    await workspace.directory.change(".");
    expect([workspace.directory.path, child.directory.path]).toEqual([`${folder.root}/src`, `${folder.root}/src/inner`]);
    expect(child.isolate().directory.path).toBe(`${folder.root}/src/inner`);
    expect(child.graph).toBe(graph);
    expect(child.tools()).toBe(tools);
    for (const part of ["files", "texts", "changes", "history", "telemetry"] as const) expect(child[part]).toBe(workspace[part]);
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
