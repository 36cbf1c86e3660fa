import { describe, expect, it } from "vitest";
import type { After } from "../terminal/after-reading.ts";
import { directShow } from "./direct-show.ts";
import { createShowCues } from "./show-cues.ts";
import { createShowPace } from "./show-pace.ts";

/** A show without pauses, whose conversation is played by the test. */
function open({ isChanged = true, after = never }: { readonly isChanged?: boolean; readonly after?: After } = {}) {
  let pressed = "";
  const waiting: { readonly text: string; readonly resolve: () => void }[] = [];
  const cues = createShowCues();
  const controller = new AbortController();
  const pace = createShowPace({ after: immediately });
  const keyboard = {
    ready: Promise.resolve(),
    answerKeys: 0,
    beginAnswer() {
      keyboard.answerKeys = 0;
    },
    press(keys: string) {
      pressed += keys;
      for (const { text, resolve } of waiting) if (pressed.endsWith(text)) resolve();
    },
  };
  const done = directShow({ keyboard, cues, pace, signal: controller.signal, isChanged: async () => isChanged, after });
  return {
    ...{ cues, controller, keyboard, done },
    pressed: () => pressed,
    until: (text: string) => new Promise<void>((resolve) => void (pressed.endsWith(text) ? resolve() : waiting.push({ text, resolve }))),
  };
}

const never: After = () => () => {};
const immediately: After = (_ms, done) => {
  const immediate = setImmediate(done);
  return () => clearImmediate(immediate);
};
/** The waits for an answer are over immediately, longer ones never. */
const impatient: After = (ms, done) => (ms < 10_000 ? immediately(ms, done) : never(ms, done));

describe("the director of a show", () => {
  it("types a message, undoes the changes when the run is over, and leaves", async () => {
    const { cues, until, done, pressed } = open();
    await until("start there.\r");
    cues.working();
    cues.done("complete");
    await until("/undo\r");
    cues.commandDone();
    await done;
    expect(pressed()).toBe("\u0015Make the failing tests pass. I suspect @src/money.js, so start there.\r\u0015/undo\r\u0015/quit\r");
  });

  it("undoes nothing if nothing is changed", async () => {
    const { cues, until, done, pressed } = open({ isChanged: false });
    await until("there.\r");
    cues.done("complete");
    await done;
    expect(pressed()).toMatch(/there\.\r\u0015\/quit\r$/);
  });

  it("answers a question after a pause, and changes the mode so that the next edit runs unasked", async () => {
    let reaction: (() => void) | undefined;
    const { cues, until, done, pressed } = open({
      after(ms, then) {
        if (ms < 1_000) return immediately(ms, then);
        reaction = then;
        return () => void (reaction = undefined);
      },
    });
    await until("there.\r");
    cues.waiting("may I?");
    await until("y\r");
    expect(reaction).toBeDefined();
    cues.working();
    await until("\u001b[Z");
    cues.done("complete");
    await until("/undo\r");
    cues.commandDone();
    await done;
    expect(pressed()).toContain("there.\r\u0015y\r\u001b[Z\u0015/undo");
  });

  it("leaves a question to the person who answers it", async () => {
    const { cues, keyboard, until, done, pressed } = open({ isChanged: false });
    await until("there.\r");
    cues.waiting("may I?");
    keyboard.answerKeys += 2;
    cues.working();
    cues.done("complete");
    await done;
    expect(pressed()).toMatch(/there\.\r\u0015\/quit\r$/);
  });

  it("ends with an error if its answers are not accepted", async () => {
    const { cues, until, done, pressed } = open({ after: impatient });
    const failed = expect(done).rejects.toThrow("its answer to a question was not accepted");
    await until("there.\r");
    cues.waiting("may I?");
    await failed;
    expect(pressed().match(/\u0015y\r/g)).toHaveLength(3);
  });

  it("ends with an error if the agent does not go on", async () => {
    const { done } = open({ after: immediately });
    await expect(done).rejects.toThrow("because the work of the agent did not come to an end");
  });

  it("stops typing when the person leaves", async () => {
    const { cues, controller, until, done, pressed } = open();
    await until("there.\r");
    cues.working();
    controller.abort(new Error("left"));
    await expect(done).rejects.toThrow("left");
    expect(pressed()).toMatch(/there\.\r$/);
  });
});
