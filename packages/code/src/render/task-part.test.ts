import { describe, expect, it } from "vitest";
import type { SessionTask } from "../core/session-tasks.ts";
import { createStyle } from "../text/style.ts";
import { createTaskPart } from "./task-part.ts";

function open(first: readonly SessionTask[]) {
  let tasks = first;
  const { part, toggle } = createTaskPart({ style: createStyle(false), tasks: () => tasks });
  return {
    toggle,
    shown: (rows = 24): readonly string[] => part.rows({ columns: 40, rows }).lines,
    become: (next: readonly SessionTask[]): void => void (tasks = next),
  };
}

describe("createTaskPart", () => {
  it("shows the list until all of its tasks are done", () => {
    const { shown, become } = open([]);
    expect(shown()).toEqual([]);
    become([
      { text: "read", state: "done" },
      { text: "write", state: "doing" },
    ]);
    expect(shown()).toEqual(["☑ read", "◐ write"]);
    become([{ text: "read", state: "done" }]);
    expect(shown()).toEqual([]);
  });

  it("hides and shows the list as the person chooses, and says if there is none", () => {
    const { shown, toggle, become } = open([{ text: "write", state: "doing" }]);
    expect([toggle(), shown()]).toEqual([true, []]);
    become([{ text: "write", state: "done" }]);
    expect([toggle(), shown()]).toEqual([true, ["☑ write"]]);
  });

  it("keeps no choice that was made before there was a list", () => {
    const { shown, toggle, become } = open([]);
    expect([toggle(), toggle()]).toEqual([false, false]);
    become([{ text: "write", state: "doing" }]);
    expect(shown()).toEqual(["◐ write"]);
  });

  it("takes few rows of a long list, and no more than there are", () => {
    const { shown } = open(Array.from({ length: 30 }, (_, index) => ({ text: `task ${index}`, state: "open" })));
    expect([shown().length, shown(3).length]).toEqual([8, 3]);
  });
});
