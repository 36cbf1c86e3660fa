import { type SessionId, UNKNOWN_USAGE } from "@keelson/protocol";
import type { Run } from "keelson";
import { describe, expect, it } from "vitest";
import type { ListedSession } from "../core/listed-session.ts";
import type { ChooseFrom } from "../pickers/choose-from.ts";
import { createStyle } from "../text/style.ts";
import type { Prompt } from "./slash-command.ts";
import { switchCommands } from "./switch-commands.ts";

const session = (id: string, firstWords: string): ListedSession => ({
  id: id as SessionId,
  tags: [],
  agentName: "code",
  createdAt: 0,
  updatedAt: 0,
  turnCount: 1,
  totalTokens: 0,
  usage: UNKNOWN_USAGE,
  cost: null,
  firstWords,
});
const SESSIONS = [session("aaaa", "mend it"), session("bbbb", "deploy it")];

function setUp(keys?: readonly string[], run?: Run) {
  const did: string[] = [];
  const style = createStyle(false);
  const choose: ChooseFrom = (open) =>
    new Promise((resolve) => {
      const picker = open({ style, onDone: resolve, changed() {} });
      for (const key of keys ?? []) picker.handle(key);
    });
  const commands = switchCommands({
    begin: async () => void did.push("begin"),
    open: async (id) => void did.push(`open ${id}`),
    fork: async () => void did.push("fork"),
    sessions: async () => SESSIONS,
    everywhere: async () => SESSIONS,
    current: () => ({ folder: "/p", id: "aaaa" }),
    userHome: "/home/ada",
    now: () => 0,
  });
  const prompt = { style, columns: 80, run, choose: keys === undefined ? undefined : choose } as Prompt;
  const execute = async (name: string, argument = "") =>
    (await commands.find((one) => one.name === name || one.aliases?.includes(name))?.execute(argument, prompt)) ?? [];
  return { did, execute, complete: async (typed: string) => commands.find(({ name }) => name === "resume")?.complete?.(typed) };
}

describe("switchCommands", () => {
  it("begins a new session, copies this one, and goes on with one by its id", async () => {
    const { did, execute } = setUp();
    await execute("clear");
    await execute("new");
    await execute("fork");
    await execute("resume", "bb");
    expect(did).toEqual(["begin", "begin", "fork", "open bb"]);
  });

  it("has a session chosen, and stays in this one if that is chosen or the list is left", async () => {
    const chosen = setUp(["d", "e", "p", "\r"]);
    await chosen.execute("resume");
    const same = setUp(["\r"]);
    await same.execute("sessions");
    const left = setUp(["\u001b"]);
    await left.execute("resume");
    expect([chosen.did, same.did, left.did]).toEqual([["open bbbb"], [], []]);
  });

  it("leaves no session that is at work, and lists the others then", async () => {
    const { did, execute } = setUp(["\r"], {} as Run);
    for (const name of ["clear", "resume", "fork"])
      expect(await execute(name, "bb")).toEqual([expect.stringContaining("Press Esc to stop it")]);
    expect((await execute("sessions")).join("\n")).toMatch(/aaaa[^]*mend it[^]*bbbb/);
    expect(did).toEqual([]);
  });

  it("lists the sessions where no list can be shown, with what goes on with one", async () => {
    expect((await setUp().execute("resume")).join("\n")).toMatch(/bbbb\n {2}deploy it[^]*\/resume and an id/);
  });

  it("suggests the sessions whose ids begin so, with their first words", async () => {
    expect(await setUp().complete("b")).toEqual([{ value: "bbbb", description: "deploy it" }]);
  });
});
