import type { BackgroundJob } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolWorkspace, type ToolWorkspace } from "../../test/tool-workspace.ts";

let workspace: ToolWorkspace;
beforeEach(() => {
  workspace = createToolWorkspace();
});
afterEach(() => workspace[Symbol.dispose]());

describe("a command in the background", () => {
  it("goes on beside the turns: it is read piece by piece, and killed; the run is given it", async () => {
    const followed: BackgroundJob[] = [];
    const started = await workspace.say(
      "bash",
      { command: "echo one; until [ -e go ]; do sleep 0.02; done; echo two; sleep 300", run_in_background: true },
      { follow: (job) => void followed.push(job) },
    );
    const id = /job_\w+/.exec(started)?.[0] ?? "";
    expect(followed.map((job) => job.id)).toEqual([id]);
    expect(await workspace.say("bash_output", { id, wait_seconds: 60 })).toBe(`one\n[${id} running]`);
    expect(await workspace.say("bash_output", { id })).toBe(`(nothing new)\n[${id} running]`);
    workspace.put("go", "");
    expect(await workspace.say("bash_output", { id, wait_seconds: 60 })).toBe(`two\n[${id} running]`);
    expect(await workspace.say("kill_bash", { id })).toBe(`[${id} killed]`);
    expect(await workspace.say("bash_output", { id, offset: 0 })).toBe(`one\ntwo\n[${id} killed]`);
    expect(await followed[0]?.ended).toMatchObject({ isError: true, isTold: true });
  });

  it("that nobody started is told with what there is", async () => {
    expect(await workspace.say("bash_output", { id: "job_none" })).toMatch(/^ERROR There is no job job_none here/);
  });
});
