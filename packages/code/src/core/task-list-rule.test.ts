import type { InferRequest, JsonValue } from "@keelson/protocol";
import { createAgent, createRunner } from "keelson";
import { summarise } from "keelson/context";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { createUpdateTasksTool } from "../tools/update-tasks.ts";
import { tasksOf } from "./session-tasks.ts";
import { createTaskListRule } from "./task-list-rule.ts";

const first = { text: "Read", state: "done" };
const second = { text: "Write", state: "doing" };
const update = (...tasks: readonly JsonValue[]): ScriptedTurn => ({ toolCalls: [{ name: "update_tasks", input: { tasks } }] });

function reminders({ messages }: InferRequest): readonly string[] {
  return messages.flatMap(({ role, content }) =>
    role === "system" ? content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
  );
}

function runnerWith(turns: readonly ScriptedTurn[]) {
  const model = scriptedModel(turns);
  const agent = createAgent({
    name: "a",
    model,
    tools: [createUpdateTasksTool()],
    rules: [createTaskListRule()],
    compaction: { strategy: summarise({ keep: 1 }) },
  });
  return { model, runner: createRunner({ agent }) };
}

describe("the list of tasks in the conversation", () => {
  it("is not repeated while the call that wrote it is there", async () => {
    const { model, runner } = runnerWith([update(first, second), update(first), "done", "done"]);
    await runner.run("go", { session: "s" }).outcome;
    await runner.run("again", { session: "s" }).outcome;
    expect(model.requests.flatMap(reminders)).toEqual([]);
  });

  it("is given back once after a compaction that removed the call, unless everything is done", async () => {
    for (const tasks of [[first, second], [first]]) {
      const { model, runner } = runnerWith([update(...tasks), "It was a long way. ".repeat(500), "more", "more"]);
      await runner.run("go", { session: "s" }).outcome;
      await runner.compact("s");
      await runner.run("go on", { session: "s" }).outcome;
      await runner.run("and on", { session: "s" }).outcome;
      const [after, later] = model.requests.slice(-2) as [InferRequest, InferRequest];
      expect(JSON.stringify(after.messages)).toContain("its older part was left out");
      const expected = tasks.length === 2 ? ["Your list of tasks (update_tasks replaces it):\n- done: Read\n- doing: Write"] : [];
      expect([reminders(after), reminders(later)]).toEqual([expected, expected]);
    }
  });

  it("goes back with a rewind, and goes along with a fork", async () => {
    const { runner } = runnerWith([update(first), "done", update(first, second), "done"]);
    await runner.run("go", { session: "s" }).outcome;
    await runner.run("again", { session: "s" }).outcome;
    expect(tasksOf(await runner.sessions.get("s"))).toEqual([first, second]);
    const fork = await runner.sessions.fork("s");
    await runner.sessions.rewind("s", 2);
    expect(tasksOf(await runner.sessions.get("s"))).toEqual([first]);
    expect(tasksOf(await runner.sessions.get(fork))).toEqual([first, second]);
  });
});
