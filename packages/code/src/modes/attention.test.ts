import { describe, expect, it } from "vitest";
import { createAttention } from "./attention.ts";

function open() {
  const titles: string[] = [];
  const notices: string[] = [];
  let at = 0;
  const attention = createAttention({
    name: "shop",
    setTitle: (text) => void titles.push(text),
    notify: ({ title, body }) => void notices.push(`${title}: ${body}`),
    now: () => at,
  });
  return { attention, titles, notices, wait: (ms: number) => void (at += ms) };
}

describe("createAttention", () => {
  it("shows in the title whether the agent works, waits or is done", () => {
    const { attention, titles } = open();
    attention.working();
    attention.waiting("bash asks");
    attention.working();
    attention.done("complete");
    expect(titles).toEqual(["working · shop", "waiting · shop", "working · shop", "shop"]);
  });

  it("notifies of each question, and of the end of a run that took over ten seconds", () => {
    const { attention, notices, wait } = open();
    attention.working();
    wait(4_000);
    attention.waiting("bash asks");
    attention.working();
    wait(7_000);
    attention.done("complete");
    expect(notices).toEqual(["shop: waits: bash asks", "shop: complete"]);
  });

  it("does not notify of the end of a short run, whatever the run before it took", () => {
    const { attention, notices, wait } = open();
    attention.working();
    wait(20_000);
    attention.done("stopped");
    attention.working();
    wait(10_000);
    attention.done("complete");
    expect(notices).toEqual(["shop: stopped"]);
  });
});
