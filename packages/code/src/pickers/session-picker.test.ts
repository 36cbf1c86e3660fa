import { type SessionId, UNKNOWN_USAGE, usd } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import type { ListedSession } from "../core/listed-session.ts";
import { createStyle } from "../text/style.ts";
import { createSessionPicker } from "./session-picker.ts";

const MINUTE = 60_000;

function session(id: string, more: Partial<ListedSession> = {}): ListedSession {
  return {
    id: id as SessionId,
    tags: [],
    agentName: "code",
    createdAt: 0,
    updatedAt: 0,
    turnCount: 3,
    totalTokens: 0,
    usage: UNKNOWN_USAGE,
    cost: usd("0.5"),
    folder: "/home/ada/shop",
    ...more,
  };
}

const SESSIONS = [
  session("aaaa1111", { firstWords: "mend the build", branch: "main" }),
  session("bbbb2222", { firstWords: "deploy it", state: "suspended", reason: "awaiting-approval", branch: "release/2" }),
  session("cccc3333", { firstWords: "write docs", damaged: "record 7 is no JSON" }),
];

function open(everywhere: () => Promise<readonly ListedSession[]> = async () => [], sessions: readonly ListedSession[] = SESSIONS) {
  const chosen: (string | undefined)[] = [];
  let frames = 0;
  const picker = createSessionPicker({
    folder: "/home/ada/shop",
    sessions,
    everywhere,
    current: "aaaa1111",
    userHome: "/home/ada",
    style: createStyle(false),
    now: () => 5 * MINUTE,
    onDone: (id) => void chosen.push(id),
    changed: () => void (frames += 1),
  });
  return {
    chosen,
    frames: () => frames,
    shown: (columns = 80) => picker.part.rows({ columns, rows: 12 }).lines.join("\n"),
    type: (text: string) => [...text].forEach((key) => picker.handle(key)),
  };
}

describe("createSessionPicker", () => {
  it("shows first words, age, turns, cost and branch, and marks what is open, waits or is damaged", () => {
    expect(open().shown()).toBe(
      [
        "session › ",
        "❯ ● mend the build",
        "    open · 5 min ago · 3 turns · $0.5000 · main · aaaa1111",
        "  ? deploy it",
        "    waits for an answer · 5 min ago · 3 turns · $0.5000 · release/2 · bbbb2222",
        "  ✗ write docs",
        "    damaged · 5 min ago · 3 turns · $0.5000 · cccc3333",
        "  1/3 · ↑↓ · Enter picks · Esc cancels · Tab this folder/all folders",
      ].join("\n"),
    );
  });

  it("shows the name of a session before its first words, and of a copy without a name that it is one", () => {
    const { shown } = open(undefined, [
      session("dddd4444", { name: "release", firstWords: "tag it" }),
      session("eeee5555", {
        name: "dddd4444 (fork)",
        firstWords: "and test it",
        parent: { session: "dddd4444" as SessionId, seq: 3 },
      }),
    ]);
    expect(shown()).toMatch(/❯ release: tag it\n[^]* {2}\(copy\) and test it\n/);
  });

  it("leaves out the less important facts in a narrow terminal", () => {
    expect(open().shown(40)).toContain("    waits · 5 min ago · release/2\n");
  });

  it.each([
    ["the words", "deploy", "bbbb2222"],
    ["the branch", "release", "bbbb2222"],
    ["the id", "cccc", "cccc3333"],
    ["that it waits", "waits", "bbbb2222"],
  ])("finds a session by %s", (_, typed, id) => {
    const { type, chosen } = open();
    type(`${typed}\r`);
    expect(chosen).toEqual([id]);
  });

  it("shows the sessions of every folder after Tab, with their folders, and goes back after another", async () => {
    const elsewhere = session("dddd4444", { firstWords: "paint it", folder: "/home/ada/site" });
    const { type, shown } = open(async () => [...SESSIONS, elsewhere]);
    type("\t");
    expect(shown()).toContain("session (reading …) › ");
    await Promise.resolve();
    await Promise.resolve();
    type("site");
    expect(shown(100)).toMatch(/session of any folder › site\n❯ paint it\n.* ~\/site · dddd4444/);
    type("\t");
    expect(shown()).toContain("session › site\nno match");
  });

  it("goes back to this folder if the others cannot be read", async () => {
    const { type, shown } = open(() => Promise.reject(new Error("locked")));
    type("\t");
    await Promise.resolve();
    await Promise.resolve();
    expect(shown()).toContain("session (other folders cannot be read: locked) › \n❯ ● mend");
  });
});
