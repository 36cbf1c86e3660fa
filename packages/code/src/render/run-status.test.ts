import { expect, it } from "vitest";
import { createRunStatus } from "./run-status.ts";

it("shows how long an activity takes beside the time of the run, unless it began with the run", () => {
  let at = 0;
  let shown: string | undefined;
  const screen = { columns: 80, text() {}, endText() {}, block() {}, status: (line: string | undefined) => void (shown = line) };
  const status = createRunStatus({ screen, now: () => at, model: "a/one", startedAt: () => 0, showsFigures: false });
  status.begin("thinking");
  at = 3_000;
  status.tick();
  expect(shown).toMatch(/^\S thinking · 3 s$/);
  status.begin("bash npm test");
  at = 5_000;
  status.tick();
  expect(shown).toMatch(/^\S bash npm test 2 s · 5 s$/);
});
