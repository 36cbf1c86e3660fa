import { describe, expect, it } from "vitest";
import { createShowPace, HURRY_AFTER_MS, type ShowPace } from "./show-pace.ts";

/** A pace whose pauses end when the test says so. */
function paceByHand(now: () => number = () => 0): { readonly pace: ShowPace; readonly asked: number[]; pass(): void } {
  const asked: number[] = [];
  let waiting: (() => void)[] = [];
  const pace = createShowPace({
    now,
    after(ms, done) {
      asked.push(ms);
      waiting.push(done);
      return () => void (waiting = waiting.filter((one) => one !== done));
    },
  });
  return { pace, asked, pass: () => waiting.splice(0).forEach((done) => done()) };
}

describe("the pace of a show", () => {
  it("lasts as long as it is asked for", async () => {
    const { pace, asked, pass } = paceByHand();
    const slept = pace.sleep(300);
    pass();
    await slept;
    expect(asked).toEqual([300]);
  });

  it("is skipped by a key, to the end of the step", async () => {
    const { pace, asked } = paceByHand();
    const slept = Promise.all([pace.sleep(300), pace.sleep(500)]);
    pace.skip();
    await slept;
    await pace.sleep(700);
    expect(asked).toEqual([300, 500]);
    pace.step();
    void pace.sleep(900);
    expect(asked).toEqual([300, 500, 900]);
  });

  it("ends with the reason of its signal, before and during a pause", async () => {
    const { pace } = paceByHand();
    const controller = new AbortController();
    const slept = pace.sleep(300, controller.signal);
    controller.abort(new Error("left"));
    await expect(slept).rejects.toThrow("left");
    await expect(pace.sleep(300, controller.signal)).rejects.toThrow("left");
  });

  it("shortens the pauses of a show that is late", () => {
    let time = 5_000;
    const { pace, asked } = paceByHand(() => time);
    time += HURRY_AFTER_MS - 1;
    void pace.sleep(400);
    time += 1;
    void pace.sleep(400);
    expect(asked).toEqual([400, 100]);
  });

  it("has no pause of no length", async () => {
    const { pace, asked } = paceByHand();
    await pace.sleep(0);
    expect(asked).toEqual([]);
  });
});
