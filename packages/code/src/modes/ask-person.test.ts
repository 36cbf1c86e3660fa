import { PassThrough } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { openScreen } from "../terminal/open-screen.ts";
import { askPerson } from "./ask-person.ts";

function setUp({ isSpoken = false } = {}): {
  readonly terminal: Parameters<typeof askPerson>[1];
  readonly stdin: PassThrough;
  readonly written: () => string;
} {
  const stdin = new PassThrough();
  let written = "";
  const screen = openScreen({ columns: 40, write: (text) => void (written += text) }, { environment: {}, screenReader: isSpoken });
  return { terminal: { screen, stdin, isSpoken }, stdin, written: () => written };
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
    await vi.waitFor(() => expect(written()).toContain("trust it? [y]es [n]o ›"));
    stdin.write("\ryes");
    await vi.waitFor(() => expect(written()).toContain("yes"));
    stdin.write("\r");
    expect(await answered).toBe("yes");
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
    const { terminal, stdin, written } = setUp({ isSpoken: true });
    const answered = askPerson(question, terminal);
    stdin.write("\nno\n");
    expect(await answered).toBe("no");
    expect(written()).toContain("trust it? [y]es [n]o ›\n");
  });
});
