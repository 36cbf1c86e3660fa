import type { EffortLevel, PermissionMode } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import type { ChooseFrom } from "../pickers/choose-from.ts";
import { createStyle } from "../text/style.ts";
import type { Prompt } from "./slash-command.ts";
import { termCommands } from "./term-commands.ts";

const ENTER = "\r";
const DOWN = "\u001b[B";
const price = { input: "2", output: "10", asOf: "2026-09-23" };

interface Setting {
  readonly did: unknown[];
  readonly shown: string[];
  run(name: string, argument?: string): Promise<readonly string[]>;
  complete(name: string, argument: string): Promise<readonly string[]>;
}

/** @param keys for each list that is opened, the keys that are pressed in it. Absent: no list can be shown */
function setUp(keys?: readonly (readonly string[])[], efforts: readonly EffortLevel[] = ["low", "high"]): Setting {
  const did: unknown[] = [];
  const shown: string[] = [];
  const left = [...(keys ?? [])];
  const style = createStyle(false);
  const choose: ChooseFrom = (open) =>
    new Promise((resolve) => {
      const picker = open({ style, onDone: resolve, changed() {} });
      shown.push(picker.part.rows({ columns: 100, rows: 12 }).lines.join("\n"));
      for (const key of left.shift() ?? []) picker.handle(key);
    });
  const prompt: Prompt = {
    columns: 80,
    style,
    commands: [],
    model: "a/one",
    mode: "default",
    effort: "high",
    reading: undefined,
    lastAsked: undefined,
    run: undefined,
    changeModel: (name) => void did.push(`model ${name}`),
    changeMode: (mode: PermissionMode) => void did.push(`mode ${mode}`),
    changeEffort: (level) => void did.push(`effort ${level}`),
    choose: keys === undefined ? undefined : choose,
    send() {},
    leave() {},
  };
  const commands = termCommands({
    model: () => "a/one",
    known: () => [
      { reference: "a/one", price, contextWindow: 200_000 },
      { reference: "b/two", price: null },
    ],
    listed: async () => [],
    effortsOf: () => efforts,
  });
  const find = (name: string) => {
    const command = commands.find((one) => one.name === name);
    if (command === undefined) throw new Error(`there is no /${name}`);
    return command;
  };
  return {
    did,
    shown,
    run: async (name, argument = "") => (await find(name).execute(argument, prompt)) ?? [],
    complete: async (name, argument) => ((await find(name).complete?.(argument)) ?? []).map(({ value }) => value),
  };
}

describe("/model", () => {
  it("takes the model that is named", async () => {
    const { run, did } = setUp();
    await run("model", "b/two");
    expect(did).toEqual(["model b/two"]);
  });

  it("has one chosen with window and price, and changes nothing if the same one is chosen or the list is left", async () => {
    const { run, did, shown } = setUp([[DOWN, ENTER], [ENTER], ["\u001b"]]);
    for (let count = 0; count < 3; count += 1) await run("model");
    expect(did).toEqual(["model b/two"]);
    expect(shown[0]).toMatch(/● a\/one .*200k tokens · \$2 in, \$10 out/);
  });

  it("lists the models where no list can be shown", async () => {
    expect(await setUp().run("model")).toEqual([
      "model: a/one",
      "  a/one: 200k tokens · $2 in, $10 out",
      "  b/two: window unknown · price unknown",
      "/model provider/id changes it",
    ]);
  });

  it("suggests the models that hold what was typed, those that begin so first", async () => {
    const { complete } = setUp();
    expect(await complete("model", "t")).toEqual(["b/two"]);
    expect(await complete("model", "o")).toEqual(["a/one", "b/two"]);
  });
});

describe("/effort", () => {
  it("takes a level of the model, or the model's own", async () => {
    const { run, did } = setUp();
    await run("effort", "LOW");
    await run("effort", "default");
    expect(did).toEqual(["effort low", "effort undefined"]);
  });

  it("has a level chosen, beginning with the one that holds", async () => {
    const { run, did, shown } = setUp([[DOWN, ENTER]]);
    await run("effort");
    expect([did, shown[0]]).toEqual([["effort undefined"], expect.stringContaining("❯ high")]);
  });

  it("names the levels if another word is given, and says so if the model takes none", async () => {
    expect(await setUp().run("effort", "max")).toEqual(['"max" is not an effort level: use one of low, high, default']);
    expect(await setUp().run("effort")).toEqual(["effort: high; /effort changes it: one of low, high, default"]);
    expect(await setUp(undefined, []).run("effort", "low")).toEqual(["a/one has no effort levels"]);
  });
});

describe("/mode", () => {
  it("takes the mode that is named, and does nothing for the one that holds", async () => {
    const { run, did } = setUp();
    await run("mode", "plan-only");
    await run("mode", "default");
    expect(did).toEqual(["mode plan-only"]);
  });

  it("has a mode chosen with what it lets run", async () => {
    const { run, did, shown } = setUp([[DOWN, ENTER]]);
    await run("mode");
    expect([did, shown[0]]).toEqual([["mode accept-edits"], expect.stringMatching(/plan-only .*only reads run/)]);
  });

  it("asks once more before everything runs unasked, with no as the first answer", async () => {
    const refused = setUp([[ENTER]]);
    await refused.run("mode", "bypass-all");
    expect([refused.did, refused.shown[0]]).toEqual([[], expect.stringContaining("run everything unasked? › \n❯ no")]);
    const sure = setUp([
      ["b", "y", "p", ENTER],
      [DOWN, ENTER],
    ]);
    await sure.run("mode");
    expect(sure.did).toEqual(["mode bypass-all"]);
  });

  it("names the modes if another word is given", async () => {
    expect(await setUp().run("mode", "yolo")).toEqual([expect.stringMatching(/"yolo" is no permission mode: write one of default, /)]);
  });
});
