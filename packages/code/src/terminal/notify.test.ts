import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createNotifier, notificationForm, notificationSequence } from "./notify.ts";

const WAITING = { title: "keelson", body: "asks whether to run `npm test`" };
const KITTY = { TERM: "xterm-kitty" };

describe("notificationForm", () => {
  it.each([
    [{ TERM_PROGRAM: "iTerm.app", TERM: "xterm-256color" }, "osc9"],
    [{ TERM_PROGRAM: "ghostty", TERM: "xterm-ghostty" }, "osc777"],
    [{ TERM_PROGRAM: "WezTerm" }, "osc777"],
    [KITTY, "osc777"],
    [{ TERM: "foot" }, "osc777"],
    [{ TERM: "rxvt-unicode-256color" }, "osc777"],
    [{ TERM: "xterm-256color" }, "bell"],
    [{ TERM_PROGRAM: "vscode", TERM: "xterm-256color" }, "bell"],
    [{ TERM: "tmux-256color", TMUX: "/tmp/tmux", TERM_PROGRAM: "iTerm.app" }, "bell"],
    [{}, "bell"],
  ])("of %j is %s", (environment, form) => {
    expect(notificationForm(environment)).toBe(form);
  });
});

describe("notificationSequence", () => {
  it("has the form that the terminal knows", () => {
    expect(notificationSequence(WAITING, "osc9")).toBe("\u001b]9;keelson: asks whether to run `npm test`\u0007");
    expect(notificationSequence(WAITING, "osc777")).toBe("\u001b]777;notify;keelson;asks whether to run `npm test`\u0007");
    expect(notificationSequence(WAITING, "bell")).toBe("\u0007");
  });

  it("is one sequence, whatever its texts are, and never a command of a progress bar", () => {
    const text = fc
      .array(fc.oneof(fc.string(), fc.constantFrom("\u0007", "\u001b\\", "\u009c", ";", "\n", "4;1;50")))
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, text, (title, body) => {
        // oxlint-disable-next-line no-control-regex -- reading an escape sequence is the purpose
        const oneSequence = /^\u001b\](?:9;(?!\d)|777;notify;[^;]*;)[^\u0000-\u001f\u007f-\u009f]*\u0007$/;
        for (const form of ["osc9", "osc777"] as const) expect(notificationSequence({ title, body }, form)).toMatch(oneSequence);
      }),
    );
  });
});

describe("createNotifier", () => {
  it("notifies while the terminal has no focus, or reports none", () => {
    const notifier = createNotifier({ environment: KITTY });
    const shown = notificationSequence(WAITING, "osc777");
    expect(notifier.notify(WAITING)).toBe(shown);
    notifier.focus(true);
    expect(notifier.notify(WAITING)).toBe("");
    notifier.focus(false);
    expect(notifier.notify(WAITING)).toBe(shown);
  });

  it("never notifies if the setting is off", () => {
    const notifier = createNotifier({ environment: KITTY, notifications: "off" });
    notifier.focus(false);
    expect(notifier.notify(WAITING)).toBe("");
  });
});
