import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import { typedPart } from "../../test/typed-part.ts";
import { createSpokenScreen } from "./spoken-screen.ts";

function setting(options: { readonly sequences?: boolean } = {}) {
  let written = "";
  const clock = createManualClock();
  const screen = createSpokenScreen({ columns: 80, write: (text) => void (written += text) }, { ...options, after: clock.after });
  return { screen, clock, written: () => written };
}

describe("createSpokenScreen", () => {
  it("writes text line by line, and its last line when the text ends", () => {
    const { screen, written } = setting();
    screen.text("Hello ");
    screen.text("there\nsec");
    expect(written()).toBe("Hello there\n");
    screen.text("ond");
    screen.endText();
    expect(written()).toBe("Hello there\nsecond\n");
  });

  it("writes blocks and finished lines in order, and never two empty lines in a row", () => {
    const { screen, written } = setting();
    screen.text("open");
    screen.block(["", "a", ""]);
    screen.block(["", "b"]);
    screen.finished(["c"]);
    screen.close();
    expect(written()).toBe("open\n\na\n\nb\nc\n");
  });

  it("writes an activity once, without spinner, figures and seconds", () => {
    const { screen, clock, written } = setting();
    for (const status of ["⠋ thinking · turn 1", "⠙ thinking 1.2 s · turn 1", "⠹ thinking 2.4 s · turn 2"]) {
      screen.status(status);
      clock.advance(500);
    }
    expect(written()).toBe("thinking\n");
    screen.status("⠋ bash npm test · turn 2");
    clock.advance(500);
    expect(written()).toBe("thinking\nbash npm test\n");
  });

  it("writes no activity that is over within half a second, and the same one again after a time without any", () => {
    const { screen, clock, written } = setting();
    screen.status("thinking");
    clock.advance(499);
    screen.status("writing");
    clock.advance(500);
    screen.status(undefined);
    screen.status("writing");
    clock.advance(500);
    expect(written()).toBe("writing\nwriting\n");
  });

  it("breaks no line of text for an activity", () => {
    const { screen, clock, written } = setting();
    screen.text("Hello ");
    screen.status("writing");
    clock.advance(500);
    screen.text("there\n");
    expect(written()).toBe("writing\nHello there\n");
  });

  it("reads the activity of a part, and shows no other part", () => {
    const { screen, clock, written } = setting();
    let line = "⠋ thinking";
    screen.part("activity", { rows: () => ({ lines: [line, "☐ a task"] }) });
    screen.part("question", { rows: () => ({ lines: ["a question"] }) });
    screen.part("input", typedPart("typed", 0));
    clock.advance(500);
    line = "⠙ reading";
    screen.changed();
    clock.advance(500);
    expect(written()).toBe("thinking\nreading\n");
  });

  it("drops every escape sequence for a terminal that knows none", () => {
    const { screen, written } = setting({ sequences: false });
    screen.block(["\u001b[31mred\u001b[39m"]);
    screen.control("\u001b]2;title\u0007");
    expect(written()).toBe("red\n");
  });

  it("only appends: it moves no cursor and erases nothing, whatever is shown", () => {
    const step = fc.oneof(
      fc.record({ type: fc.constant("text" as const), text: fc.string({ maxLength: 20 }) }),
      fc.record({ type: fc.constant("block" as const), text: fc.string({ maxLength: 20 }) }),
      fc.record({ type: fc.constant("status" as const), text: fc.string({ maxLength: 20 }) }),
      fc.record({ type: fc.constant("time" as const), text: fc.constant("") }),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const { screen, clock, written } = setting();
        let before = "";
        for (const { type, text } of steps) {
          if (type === "time") clock.advance(500);
          else if (type === "block") screen.block([text]);
          else screen[type](text);
          expect(written().startsWith(before)).toBe(true);
          before = written();
        }
        screen.close();
        expect(written()).not.toMatch(/[\r\u001b]/);
      }),
    );
  });
});
