import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createLiveScreen } from "../terminal/live-screen.ts";
import { askPerson } from "./ask-person.ts";

function setUp(): { readonly terminal: Parameters<typeof askPerson>[1]; readonly stdin: PassThrough; readonly written: () => string } {
  const stdin = new PassThrough();
  let written = "";
  const screen = createLiveScreen({ columns: 40, write: (text) => void (written += text) });
  return { terminal: { screen, stdin }, stdin, written: () => written };
}

const question = {
  prompt: "trust it? [y]es [n]o › ",
  read(line: string, answer: (given: string) => void): void {
    if (line !== "") answer(line);
  },
  otherwise: "left",
};

describe("askPerson", () => {
  it("asks until a line answers", async () => {
    const { terminal, stdin, written } = setUp();
    const answered = askPerson(question, terminal);
    stdin.write("\ryes\r");
    expect(await answered).toBe("yes");
    expect(written()).toContain("trust it? [y]es [n]o › yes");
  });

  it("returns the other answer for Ctrl-C, Ctrl-D and the end of the input", async () => {
    for (const keys of ["\u0003", "\u0004"]) {
      const { terminal, stdin } = setUp();
      const answered = askPerson(question, terminal);
      stdin.write(keys);
      expect(await answered).toBe("left");
    }
    const { terminal, stdin } = setUp();
    const answered = askPerson(question, terminal);
    stdin.end();
    expect(await answered).toBe("left");
  });

  it("leaves editing to the terminal for a spoken screen", async () => {
    const { terminal, stdin, written } = setUp();
    const answered = askPerson(question, { ...terminal, isSpoken: true });
    stdin.write("\nno\n");
    expect(await answered).toBe("no");
    expect(written()).toContain("trust it? [y]es [n]o ›\n");
  });
});
