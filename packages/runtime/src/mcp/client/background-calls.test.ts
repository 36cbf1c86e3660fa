import type { BackgroundJob, ToolAnswer, ToolCall, ToolOutput } from "@keelson/protocol";
import { expect, it } from "vitest";
import { manualClock } from "../../../test/wires/manual-clock.ts";
import { createToolCall } from "../../tools/index.ts";
import { createBackgroundCalls } from "./background-calls.ts";

const OPTIONS = { name: "mcp__a__b", server: "a", afterMs: 1000 };

it("does not leave a call while a person is asked in it, and asks nobody once it is left", async () => {
  const clock = manualClock();
  const jobs: BackgroundJob[] = [];
  const answer = Promise.withResolvers<ToolAnswer>();
  const given = createToolCall({ follow: (job) => void jobs.push(job), ask: () => answer.promise });
  const asked: (ToolAnswer | undefined)[] = [];
  const end = Promise.withResolvers<ToolOutput>();
  const question = { message: "Which?", from: "a" };
  const work = async (call: ToolCall): Promise<ToolOutput> => {
    asked.push(await call.ask?.(question));
    await end.promise;
    asked.push(await call.ask?.(question));
    return "over";
  };
  const answered = createBackgroundCalls(clock).during(given, OPTIONS, work);
  await clock.advance(5000);
  expect(jobs).toEqual([]);
  answer.resolve({ type: "declined" });
  expect(await answered).toMatch(/goes on in the background as call_\w+/);
  end.resolve("");
  expect(await jobs[0]?.ended).toEqual({ text: "over", isError: false, isTold: false });
  expect(asked).toEqual([{ type: "declined" }, { type: "cancelled" }]);
});

it("leaves a call that is answered in time, fails or is cancelled as it is", async () => {
  const clock = manualClock();
  const calls = createBackgroundCalls(clock);
  const abort = new AbortController();
  const given = createToolCall({ follow: () => expect.unreachable(), signal: abort.signal });
  expect(await calls.during(given, OPTIONS, async () => "quick")).toBe("quick");
  await expect(calls.during(given, OPTIONS, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  const cancelled = calls.during(
    given,
    OPTIONS,
    ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );
  abort.abort(new Error("enough"));
  await expect(cancelled).rejects.toThrow("enough");
  await clock.advance(5000);
});
