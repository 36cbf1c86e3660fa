import { describe, expect, it } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import { createFramePace } from "./frame-pace.ts";

/** @param took milliseconds that each frame blocks the process */
function setting(took = 0) {
  const clock = createManualClock();
  const frames: number[] = [];
  const pace = createFramePace({
    draw() {
      frames.push(clock.now());
      clock.block(took);
    },
    after: clock.after,
    now: clock.now,
  });
  return { clock, frames, pace };
}

describe("createFramePace", () => {
  it("draws the first frame without a delay, and one frame for all requests of a moment", () => {
    const { clock, frames, pace } = setting();
    pace.request();
    pace.request();
    expect(frames).toEqual([]);
    clock.advance(0);
    expect(frames).toEqual([0]);
    clock.advance(1_000);
    expect(frames).toEqual([0]);
  });

  it("draws at most one frame in 33 ms, however often one is asked for", () => {
    const { clock, frames, pace } = setting();
    for (let ms = 0; ms < 100; ms += 1) {
      pace.request();
      clock.advance(1);
    }
    clock.advance(100);
    expect(frames).toEqual([0, 33, 66, 99, 132]);
  });

  it("waits four times as long as the last frame took, and at most a second", () => {
    const slow = setting(50);
    slow.pace.flush();
    slow.pace.request();
    slow.clock.advance(199);
    expect(slow.frames).toEqual([0]);
    slow.clock.advance(1);
    expect(slow.frames).toEqual([0, 250]);

    const slower = setting(3_000);
    slower.pace.flush();
    slower.pace.request();
    slower.clock.advance(999);
    expect(slower.frames).toEqual([0]);
    slower.clock.advance(1);
    expect(slower.frames).toEqual([0, 4_000]);
  });

  it("draws a key within 5 ms while the terminal is idle, also if an ordinary frame waits", () => {
    const { clock, frames, pace } = setting(1);
    pace.flush();
    pace.request();
    clock.advance(3);
    pace.request({ soon: true });
    clock.advance(5);
    expect(frames).toEqual([0, 4]);
    // The frame of the key was the one that waited.
    clock.advance(1_000);
    expect(frames).toEqual([0, 4]);
  });

  it("draws a key of a slow terminal after a pause as long as the last frame", () => {
    const { clock, frames, pace } = setting(200);
    pace.flush();
    pace.request({ soon: true });
    clock.advance(199);
    expect(frames).toEqual([0]);
    clock.advance(1);
    expect(frames).toEqual([0, 400]);
  });

  it("draws no frame that was cancelled", () => {
    const { clock, frames, pace } = setting();
    pace.request();
    pace.cancel();
    clock.advance(1_000);
    expect(frames).toEqual([]);
  });
});
