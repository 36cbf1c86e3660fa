import { PassThrough, Writable } from "node:stream";
import { type SessionId, UNKNOWN_USAGE } from "@keelson/protocol";
import { expect, it } from "vitest";
import type { ListedSession } from "../core/listed-session.ts";
import { chooseSession } from "./choose-session.ts";

const sessions: readonly ListedSession[] = ["0a11", "7b22", "7c33"].map((id) => ({
  id: id as SessionId,
  tags: [],
  agentName: "code",
  createdAt: 0,
  updatedAt: 0,
  turnCount: 1,
  totalTokens: 0,
  usage: UNKNOWN_USAGE,
  cost: null,
}));

/** What is chosen by these lines, the last of which chooses. */
async function choose(...lines: readonly string[]): Promise<{ readonly chosen: string | undefined; readonly shown: string }> {
  const stdin = new PassThrough();
  let shown = "";
  const stdout = new Writable({ write: (chunk: Buffer, _encoding, done) => ((shown += chunk.toString()), done()) });
  const choosing = chooseSession(sessions, async ({ id }) => (id === "7b22" ? "goes on with 5k tokens" : undefined), {
    stdin,
    stdout,
    environment: { NO_COLOR: "1" },
    now: () => 0,
  });
  stdin.write(lines.map((line) => `${line}\r`).join(""));
  return { chosen: await choosing, shown };
}

it("takes a number of the list, or enough of an id to know which", async () => {
  expect((await choose("2")).chosen).toBe("7b22");
  expect((await choose("7c")).chosen).toBe("7c33");
  expect((await choose("")).chosen).toBe(undefined);
});

it("shows the line that describes a session below it", async () => {
  const { shown } = await choose("");
  expect(shown).toMatch(/7b22[^]*goes on with 5k tokens[^]*7c33/);
  expect(shown.match(/goes on with/g)).toHaveLength(1);
});

it("asks again about a number that is not in the list, though an id begins with it", async () => {
  for (const wrong of ["0", "7", "x"]) {
    const { chosen, shown } = await choose(wrong, "3");
    expect([chosen, shown]).toEqual(["7c33", expect.stringContaining("none of these: give a number")]);
  }
});
