import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type SessionTask, TASK_STATES } from "../core/session-tasks.ts";
import { displayWidth } from "../text/display-width.ts";
import { createStyle } from "../text/style.ts";
import { taskLines } from "./task-lines.ts";

const style = createStyle(false);
const tasksOf = (states: string): readonly SessionTask[] =>
  [...states].map((state, index) => ({ text: `task ${index + 1}`, state: state === "d" ? "done" : state === "*" ? "doing" : "open" }));

describe("taskLines", () => {
  it("marks each task by its state, and in ASCII where the terminal knows no more", () => {
    expect(taskLines(tasksOf("d*o"), { style, columns: 40 })).toEqual(["☑ task 1", "◐ task 2", "☐ task 3"]);
    expect(taskLines(tasksOf("d*o"), { style, columns: 40, unicode: false })).toEqual(["[x] task 1", "[~] task 2", "[ ] task 3"]);
    expect(taskLines([], { style, columns: 40 })).toEqual([]);
  });

  it("folds a long list to the tasks around the one that is being done", () => {
    expect(taskLines(tasksOf("ddddd*oooo"), { style, columns: 40, maxLines: 5 })).toEqual([
      "… 4 done",
      "☑ task 5",
      "◐ task 6",
      "☐ task 7",
      "… 3 more",
    ]);
    expect(taskLines(tasksOf("*ooooooo"), { style, columns: 40, maxLines: 4 })).toEqual(["◐ task 1", "☐ task 2", "☐ task 3", "… 5 more"]);
    expect(taskLines(tasksOf("dddddddd"), { style, columns: 40, maxLines: 3 })).toEqual(["… 6 done", "☑ task 7", "☑ task 8"]);
    expect(taskLines(tasksOf("ddd*oooo"), { style, columns: 40, maxLines: 1, unicode: false })).toEqual(["[~] task 4"]);
  });

  it("writes a text of the model as one line without control characters", () => {
    const [line] = taskLines([{ text: "a\u001b[31m\nb", state: "open" }], { style, columns: 40 });
    // oxlint-disable-next-line no-control-regex -- what must not be there
    expect(line).not.toMatch(/[\u0000-\u001f]/);
  });

  it("always fits into its lines and columns, and shows the current task", () => {
    const state = fc.constantFrom(...TASK_STATES);
    fc.assert(
      fc.property(
        fc.array(fc.record({ text: fc.string(), state }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 12, max: 60 }),
        (given, maxLines, columns) => {
          const tasks = given.map((task, index) => ({ ...task, text: `${index}: ${task.text}` }));
          const lines = taskLines(tasks, { style, columns, maxLines });
          expect(lines.length).toBeLessThanOrEqual(maxLines);
          for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
          const current = tasks.findIndex((task) => task.state === "doing");
          if (current >= 0) expect(lines.some((line) => line.startsWith(`◐ ${current}:`))).toBe(true);
        },
      ),
    );
  });
});
