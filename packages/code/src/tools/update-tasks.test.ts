import type { JsonValue } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolWorkspace, type ToolWorkspace } from "../../test/tool-workspace.ts";

let workspace: ToolWorkspace;
let kept: { [name: string]: JsonValue };
beforeEach(() => {
  workspace = createToolWorkspace();
  kept = {};
});
afterEach(() => workspace[Symbol.dispose]());

const update = (tasks: JsonValue): Promise<string> =>
  workspace.say("update_tasks", { tasks }, { keep: (name, value) => void (kept[name] = value) });

describe("update_tasks", () => {
  it("keeps the whole list for the session, and says in a few words how far it is", async () => {
    const tasks = [
      { text: " Read the code ", state: "done" },
      { text: "Write the test", state: "doing" },
      { text: "Fix it", state: "open" },
    ];
    expect(await update(tasks)).toBe("1 of 3 done.");
    expect(kept).toEqual({ tasks: [{ text: "Read the code", state: "done" }, ...tasks.slice(1)] });
    expect(await update([])).toBe("The list is empty now.");
    expect(kept).toEqual({ tasks: [] });
  });

  it("refuses a list that nobody can follow, says what to do, and keeps the list that there was", async () => {
    const task = (state: string, text = "Do it"): JsonValue => ({ text, state });
    expect(await update(Array.from({ length: 51 }, () => task("open")))).toBe(
      "ERROR The list was not changed: it has 51 tasks, and 50 is the most. Join small ones.",
    );
    expect(await update([task("doing"), task("doing")])).toContain("2 tasks are doing, and one is the most. Leave the others open.");
    expect(await update([task("open", " ")])).toContain("a task has no text");
    expect(await update([task("open", "x".repeat(301))])).toContain("is longer than 300 characters. Shorten it");
    expect(await update([task("later")])).toContain("must be one of open, doing, done");
    expect(kept).toEqual({});
    expect(await update(Array.from({ length: 50 }, () => task("open")))).toBe("0 of 50 done.");
  });
});
