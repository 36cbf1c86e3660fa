import { describe, expect, it } from "vitest";
import { loadReading } from "./reading.ts";

describe("loadReading", () => {
  it("colours the code of texts whose languages were loaded before", async () => {
    const reading = await loadReading({ colors: true, environment: {} });
    const text = "> ~~~ts\n> let a;\n> ~~~\n\n1. x\n   ```py\n   def f(): pass\n   ```";
    expect(reading.lines(text, 80).join("\n")).not.toContain("\u001b[35m");
    const other = await loadReading({ colors: true, environment: {} });
    await other.load([text]);
    expect(
      other
        .lines(text, 80)
        .join("\n")
        .match(/\u001b\[35m(?:let|def)/g),
    ).toHaveLength(2);
  });

  it("writes no escape sequence without colours, whatever the terminal knows", async () => {
    const reading = await loadReading({ colors: false, environment: { TERM: "xterm-kitty" }, setting: "dark" });
    expect(reading.lines("# A [b](https://c.example)", 80)).toEqual(["# A b (https://c.example)"]);
  });

  it("opens hyperlinks where the terminal knows them", async () => {
    const reading = await loadReading({ colors: true, environment: { TERM: "xterm-kitty" } });
    expect(reading.lines("[b](https://c.example)", 80)[0]).toContain("\u001b]8;;https://c.example/\u001b\\");
  });
});
