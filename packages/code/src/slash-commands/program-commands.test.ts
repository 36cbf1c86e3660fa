import type { JobInfo } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createStyle } from "../text/style.ts";
import { programCommands, type ProgramCommandsOptions } from "./program-commands.ts";
import type { Prompt } from "./slash-command.ts";

function setUp(more: Partial<ProgramCommandsOptions> = {}) {
  const commands = programCommands({ findings: async () => ["✔ Node"], jobs: async () => [], ...more });
  const prompt = { style: createStyle(false), columns: 60 } as Prompt;
  return {
    names: commands.map(({ name }) => name),
    run: async (name: string, argument = "") => (await commands.find((one) => one.name === name)?.execute(argument, prompt)) ?? [],
  };
}

describe("/tasks", () => {
  it("shows the list of the agent, then what runs in the background and what ended", async () => {
    const jobs: readonly JobInfo[] = [
      { id: "job_1", command: "npm test", status: "exited", exitCode: 0, durationMs: 2_000 },
      { id: "job_2", command: `npm run dev -- ${"x".repeat(80)}`, status: "running", durationMs: 65_000 },
    ];
    const { run } = setUp({ jobs: async () => jobs, tasks: () => ["☐ write the test"] });
    expect(await run("tasks")).toEqual([
      "☐ write the test",
      "▸ npm run dev -- xxxxxxxxxxxxxxx…  runs · 1 m 05 s · job_2",
      "· npm test  ended with 0 · 2 s · job_1",
    ]);
  });

  it("says so if there is nothing", async () => {
    expect(await setUp().run("tasks")).toEqual([expect.stringContaining("nothing runs in the background")]);
  });
});

describe("/open", () => {
  it("opens the last folded output, or one by its number, and says which there is not", async () => {
    const { run } = setUp({ openOutput: (number) => (number === 9 ? undefined : [`output ${number ?? "last"}`]) });
    expect([await run("open"), await run("open", "2")]).toEqual([["output last"], ["output 2"]]);
    expect(await run("open", "9")).toEqual(["there is no folded output 9, or it is no longer kept"]);
    expect(await run("open", "x")).toEqual(['"x" is no number of a folded output']);
  });

  it("is no command where nothing is folded", () => {
    expect(setUp().names).toEqual(["tasks", "doctor"]);
  });
});

it("/doctor shows the findings for the folder", async () => {
  expect(await setUp().run("doctor")).toEqual(["✔ Node"]);
});
