import { EventEmitter } from "node:events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import { typedPart } from "../../test/typed-part.ts";
import { createXtermDevice, XTERM_ENVIRONMENT } from "../../test/xterm-device.ts";
import { createStyle } from "../text/style.ts";
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
    screen.part("input", typedPart("wait", 2));
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

  it("writes text that ends in the row that showed it only once", () => {
    const { device, clock, screen } = setting();
    screen.status("working");
    screen.text("Hello there");
    clock.advance(0);
    device.takeWritten();
    screen.text("\n");
    clock.advance(33);
    expect(device.takeWritten()).not.toContain("Hello");
  });

  it("writes the rows that have changed, and nothing if none has", async () => {
    const { device, clock, screen } = setting();
    let words = ["first", "second", "third"];
    screen.part("words", { rows: () => ({ lines: words }) });
    screen.status("working");
    clock.advance(0);
    device.takeWritten();
    screen.changed();
    clock.advance(33);
    expect(device.takeWritten()).toBe("");
    words = ["first", "other", "third"];
    screen.changed();
    clock.advance(33);
    const written = device.takeWritten();
    expect(written).toContain("other");
    expect(written).not.toMatch(/first|third|working/);
    words = ["first"];
    screen.changed();
    clock.advance(33);
    expect(device.takeWritten()).not.toContain("first");
    expect(await device.shown()).toEqual(["first", "working"]);
  });

  it("writes a frame at a time, inside synchronized output and without a cursor that moves", () => {
    const { clock, device, screen } = setting();
    screen.block(["a", "b"]);
    screen.part("input", typedPart("typed", 5));
    clock.advance(0);
    const written = device.takeWritten();
    expect(written.startsWith("\u001b[?2026h\u001b[?25l")).toBe(true);
    expect(written.endsWith("\u001b[?25h\u001b[?2026l")).toBe(true);
    expect(written.split("\u001b[?2026h").length).toBe(2);
  });

  it("moves the cursor alone if only the cursor has moved", async () => {
    const { clock, device, screen } = setting();
    screen.part("input", typedPart("typed", 5));
    clock.advance(0);
    device.takeWritten();
    screen.part("input", typedPart("typed", 1));
    screen.changed({ soon: true });
    clock.advance(0);
    expect(device.takeWritten()).not.toContain("typed");
    await device.settled();
    expect(device.cursor()).toEqual([0, 3]);
  });

  it("shows a key that is typed without waiting for the pace", async () => {
    const { clock, device, screen } = setting();
    screen.block(["a"]);
    clock.advance(0);
    screen.part("input", typedPart("k", 1));
    screen.changed({ soon: true });
    clock.advance(0);
    expect(await device.shown()).toEqual(["a", "› k"]);
  });

  it("writes finished lines that take more than 64 KiB without waiting for a frame", () => {
    const { device, screen } = setting();
    const line = "x".repeat(1_023);
    for (let count = 0; count < 64; count += 1) screen.finished([line]);
    expect(device.takeWritten()).toBe("");
    screen.finished([line]);
    expect(device.takeWritten().split("x".repeat(1_023)).length).toBe(66);
  });

  it("keeps colours and links in their line, and writes tabs as spaces", async () => {
    const { device, screen } = setting();
    screen.block(["\u001b[31mred", "a\tb", "\u001b]8;;https://example.com\u0007link"]);
    screen.flush();
    expect(device.takeWritten()).toContain(
      "\u001b[31mred\u001b[0m\r\na   b\r\n\u001b]8;;https://example.com\u0007link\u001b]8;;\u0007\u001b[0m",
    );
  });

  it("keeps the colour of a line in all rows that it is broken into", async () => {
    const { device, screen } = setting(30);
    screen.block([createStyle(true).yellow("a warning that is longer than a row\nand goes on")]);
    screen.flush();
    await device.settled();
    const colours = device.styledRows().map((row) => new Set(row.filter((cell) => !cell.startsWith(" ")).map((cell) => cell.slice(2))));
    expect(colours.map((inRow) => inRow.size)).toEqual([1, 1, 1]);
    expect(new Set(colours.flatMap((inRow) => [...inRow])).size).toBe(1);
    expect(device.styledRows()[1]?.[0]).toMatch(/^\S 3 /);
  });

  it("finishes an open line also if the block after it is empty", () => {
    const { device, clock, screen } = setting();
    screen.text("open");
    screen.block([]);
    clock.advance(0);
    expect(device.takeWritten()).toContain("open\r\n");
  });

  it("removes the live region while it is suspended, and draws it again below what was written", async () => {
    const { device, clock, screen } = setting();
    screen.block(["a"]);
    screen.part("input", typedPart("draft", 5));
    clock.advance(0);
    screen.suspend();
    expect(await device.shown()).toEqual(["a"]);
    device.write("of the shell\r\n");
    screen.block(["b"]);
    screen.status("working");
    clock.advance(1_000);
    expect(await device.shown()).toEqual(["a", "of the shell"]);
    screen.resume();
    expect(await device.shown()).toEqual(["a", "of the shell", "b", "working", "› draft"]);
    screen.suspend();
    device.write("$ ");
    screen.resume();
    expect(await device.shown()).toEqual(["a", "of the shell", "b", "working", "› draft"]);
  });

  it("writes what waits when it is closed, once, and later lines without delay", async () => {
    const { device, screen } = setting();
    screen.status("working");
    screen.text("open");
    screen.close();
    device.takeWritten();
    screen.close();
    expect(device.takeWritten()).toBe("");
    screen.block(["late"]);
    expect(await device.shown()).toEqual(["open", "late"]);
  });

  it("is closed when the process ends", async () => {
    const device = createXtermDevice();
    const process = new EventEmitter();
    const screen = createLiveScreen(device, { process });
    screen.status("working");
    screen.block(["finished"]);
    process.emit("exit");
    expect(await device.shown()).toEqual(["finished"]);
    expect(process.listenerCount("exit")).toBe(0);
  });

  it("writes a sequence of another part without a frame", () => {
    const { device, screen } = setting();
    screen.control("\u001b]2;title\u0007");
    screen.control("");
    expect(device.takeWritten()).toBe("\u001b]2;title\u0007");
  });

  it("leaves a row of the terminal to what is finished, however much its parts show", async () => {
    const { device, screen } = setting(40, 6);
    screen.block(["finished"]);
    screen.part("words", { rows: () => ({ lines: Array.from({ length: 20 }, (_, index) => `word ${index}`) }) });
    screen.part("input", typedPart("", 0));
    screen.flush();
    expect(await device.shown()).toEqual(["finished", "word 16", "word 17", "word 18", "word 19", "› "]);
    expect([screen.columns, screen.rows]).toEqual([39, 5]);
  });

  it("writes finished lines whole in a terminal that is narrower than its rows", async () => {
    const { device, screen } = setting(10);
    const line = "abcdefghijklmno";
    screen.part("words", { rows: () => ({ lines: [line] }) });
    screen.flush();
    screen.part("words", undefined);
    screen.finished([line]);
    screen.flush();
    expect(await device.transcript()).toEqual([line]);
  });

  it("keeps a row of a part in one row of the terminal, also if the terminal draws it wider than it was measured", async () => {
    const { device, screen } = setting(40);
    // xterm.js draws each emoji of a family for itself.
    screen.part("words", { rows: () => ({ lines: ["👩‍👩‍👧".repeat(19), "below"] }) });
    screen.flush();
    expect((await device.shown()).length).toBe(2);
    screen.part("words", { rows: () => ({ lines: ["above", "below"] }) });
    screen.flush();
    expect(await device.shown()).toEqual(["above", "below"]);
  });

  it("breaks an open line again when the terminal becomes narrower, and loses no word of it", async () => {
    const { device, screen } = setting(80);
    const text = "the quick brown fox jumps over the lazy dog and runs away";
    screen.text(text);
    screen.flush();
    await device.resize(30);
    expect((await device.shown()).map((row) => row.trim())).toEqual(["the quick brown fox jumps", "over the lazy dog and runs", "away"]);
    await device.resize(80);
    screen.text("!");
    screen.close();
    expect((await device.transcript()).join(" ").replaceAll(/ +/g, " ")).toBe(`${text}!`);
  });

  it("draws all rows again after quick changes of size, of which the last one is reported alone", async () => {
    const { device, screen } = setting(80);
    const text = "a draft that is longer than the terminal will be for a moment";
    screen.block(["finished"]);
    screen.status("a status that is longer than the terminal will be for a moment");
    screen.part("input", typedPart(text, text.length));
    screen.flush();
    const before = await device.shown();
    await device.resize(40, 24, { isReported: false });
    await device.resize(80);
    expect(await device.shown()).toEqual(before);
  });
});
