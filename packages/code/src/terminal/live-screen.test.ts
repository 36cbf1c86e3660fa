import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import { createXtermDevice, XTERM_ENVIRONMENT } from "../../test/xterm-device.ts";
import { createLiveScreen } from "./live-screen.ts";

function setting(columns = 40, rows = 24) {
  const device = createXtermDevice({ columns, rows });
  const clock = createManualClock();
  const screen = createLiveScreen(device, { environment: XTERM_ENVIRONMENT, after: clock.after, now: clock.now });
  return { device, clock, screen };
}

describe("createLiveScreen", () => {
  it("keeps text, status and input apart while all of them change", async () => {
    const { device, clock, screen } = setting();
    screen.status("working");
    screen.text("Hello ");
    screen.input({ prompt: "› ", text: "wait", cursor: 2 });
    screen.text("there\nsecond");
    clock.advance(0);
    expect(await device.shown()).toEqual(["Hello there", "second", "working", "› wait"]);
    expect(device.cursor()).toEqual([3, 4]);
    screen.block(["", "● bash"]);
    screen.status("still working");
    clock.advance(33);
    expect(await device.shown()).toEqual(["Hello there", "second", "", "● bash", "still working", "› wait"]);
    screen.close();
    expect(await device.shown()).toEqual(["Hello there", "second", "", "● bash"]);
    expect(device.cursor()).toEqual([4, 0]);
  });

  it("never leaves two empty lines in a row", async () => {
    const { device, screen } = setting();
    screen.block([""]);
    screen.block(["", "a", ""]);
    screen.block(["", "b"]);
    screen.close();
    expect(await device.transcript()).toEqual(["a", "", "b"]);
  });

  it("shows the end of the same text, however it was cut into chunks", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.stringMatching(/^[ab \n]{0,12}$/), { maxLength: 12 }), async (chunks) => {
        const { device, clock, screen } = setting(26);
        screen.status("s");
        for (const chunk of chunks) {
          screen.text(chunk);
          clock.advance(20);
        }
        screen.close();
        const shown = await device.transcript();
        device.dispose();
        expect(shown.join("").replaceAll(" ", "")).toBe(chunks.join("").replaceAll(/[ \n]/g, ""));
      }),
    );
  });

  it("shows the part of a long input that is being typed", async () => {
    const { device, clock, screen } = setting(31);
    const text = "abcdefghijklmnopqrstuvwxyz0123456789";
    screen.input({ prompt: "> ", text, cursor: text.length });
    clock.advance(0);
    expect((await device.shown())[0]).toMatch(/^> .*789$/);
    expect(device.cursor()[1]).toBeLessThan(31);
  });
});
