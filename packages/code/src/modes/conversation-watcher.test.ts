import { describe, expect, it } from "vitest";
import type { Prompt, SlashCommand } from "../slash-commands/slash-command.ts";
import { createStyle } from "../text/style.ts";
import type { Attention } from "./attention.ts";
import { type ConversationWatcher, watchedAttention, watchedCommand } from "./conversation-watcher.ts";

function recorded(name: string, into: string[]): ConversationWatcher {
  return {
    working: () => void into.push(`${name} working`),
    waiting: (question) => void into.push(`${name} waiting: ${question}`),
    done: (ending) => void into.push(`${name} done: ${ending}`),
    commandDone: () => void into.push(`${name} command`),
  };
}

const PROMPT: Prompt = {
  ...{ columns: 80, style: createStyle(false), commands: [], model: "m", mode: "default", effort: undefined },
  ...{ reading: undefined, lastAsked: undefined, run: undefined, choose: undefined },
  changeModel() {},
  changeMode() {},
  changeEffort() {},
  send() {},
  leave() {},
};

describe("a watcher of a conversation", () => {
  it("is told each state after the attention that it watches", () => {
    const told: string[] = [];
    const attention: Attention = watchedAttention(recorded("own", told), recorded("watcher", told));
    attention.working();
    attention.waiting("may I?");
    attention.done("complete");
    expect(told).toEqual([
      ...["own working", "watcher working", "own waiting: may I?", "watcher waiting: may I?"],
      ...["own done: complete", "watcher done: complete"],
    ]);
  });

  it("is told that a command is done after its last step, also if it fails", async () => {
    const told: string[] = [];
    const command = (execute: SlashCommand["execute"]): SlashCommand => ({ name: "x", description: "", execute });
    const lines = watchedCommand(
      command(async () => {
        told.push("works");
        return ["a line"];
      }),
      recorded("watcher", told),
    );
    expect(await lines?.execute("", PROMPT)).toEqual(["a line"]);
    const failing = watchedCommand(
      command(() => Promise.reject(new Error("no"))),
      recorded("watcher", told),
    );
    await expect(failing?.execute("", PROMPT)).rejects.toThrow("no");
    expect(told).toEqual(["works", "watcher command", "watcher command"]);
  });

  it("changes nothing if it is absent", () => {
    const attention = recorded("own", []);
    const command: SlashCommand = { name: "x", description: "", execute() {} };
    expect(watchedAttention(attention, undefined)).toBe(attention);
    expect(watchedCommand(command, undefined)).toBe(command);
  });
});
