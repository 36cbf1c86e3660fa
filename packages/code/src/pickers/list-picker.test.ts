import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth } from "../text/display-width.ts";
import { createStyle } from "../text/style.ts";
import { type Choice, createListPicker, type ListPicker } from "./list-picker.ts";

const DOWN = "\u001b[B";
const UP = "\u001b[A";
const PAGE_DOWN = "\u001b[6~";

interface Opened {
  readonly picker: ListPicker<string>;
  readonly done: (string | undefined)[];
  shown(columns?: number, rows?: number): string;
  type(...keys: readonly string[]): void;
}

function open(choices: readonly Choice<string>[], more: { readonly initial?: string; readonly switched?: () => void } = {}): Opened {
  const done: (string | undefined)[] = [];
  const picker = createListPicker<string>({
    title: "model",
    choices,
    style: createStyle(false),
    initial: more.initial,
    ...(more.switched && { onSwitch: { hint: "shows all", act: more.switched } }),
    onDone: (chosen) => void done.push(chosen),
  });
  return {
    picker,
    done,
    shown: (columns = 60, rows = 8) => picker.part.rows({ columns, rows }).lines.join("\n"),
    type: (...keys) => keys.forEach((key) => picker.handle(key)),
  };
}

const of = (...labels: readonly string[]): readonly Choice<string>[] => labels.map((label) => ({ value: label, label }));

describe("createListPicker", () => {
  it("shows the search, the choices with the marked one, and the keys", () => {
    const { shown } = open([
      { value: "a", label: "one", description: "the first" },
      { value: "b", label: "another" },
    ]);
    expect(shown()).toBe(["model › ", "❯ one      the first", "  another", "  1/2 · ↑↓ · Enter picks · Esc cancels"].join("\n"));
  });

  it("filters by what is typed and takes the marked choice", () => {
    const { type, shown, done } = open(of("alpha", "beta", "gamma"));
    type("m", "m");
    expect(shown()).toContain("model › mm\n❯ gamma\n  1/1");
    type("\u007f", "\u007f", "a", DOWN, "\r");
    expect(done).toEqual(["beta"]);
  });

  it("goes around the ends, and by pages of what is in sight", () => {
    const { type, shown, done } = open(of(...Array.from({ length: 20 }, (_, index) => `number ${index}`)));
    type(UP);
    expect(shown()).toContain("❯ number 19");
    type(DOWN);
    expect(shown(60, 7)).toContain("❯ number 0");
    type(PAGE_DOWN);
    expect(shown(60, 7)).toContain("❯ number 5");
    type("\r");
    expect(done).toEqual(["number 5"]);
  });

  it("begins at the choice that holds now", () => {
    expect(open(of("a", "b", "c"), { initial: "c" }).shown()).toContain("❯ c");
  });

  it("says that nothing fits, and takes nothing then", () => {
    const { type, shown, done } = open(of("a", "b"));
    type("x", "y", "\r");
    expect(shown()).toContain("no match");
    expect(done).toEqual([]);
    type("\u0015", "\r");
    expect(done).toEqual(["a"]);
  });

  it("is left with Esc, and hears no key afterwards", () => {
    const { type, done } = open(of("a"));
    type("\u001b", "\r");
    expect(done).toEqual([undefined]);
  });

  it("erases a whole grapheme, and a word", () => {
    const { type, shown } = open(of("a"));
    type("x", "👨‍👩‍👧", "\u007f");
    expect(shown()).toContain("model › x\n");
    type(" ", "y", "z", "\u0017");
    expect(shown()).toContain("model › x \n");
  });

  it("keeps what was typed and the marked choice if the choices change", () => {
    const { type, shown, picker } = open(of("beta one", "beta two"));
    type("b", DOWN);
    picker.setChoices(of("beta zero", "beta one", "beta two", "other"), "every model");
    expect(shown()).toMatch(/^every model › b\n {2}beta zero\n {2}beta one\n❯ beta two\n/);
  });

  it("has Tab act if it has something to do", () => {
    let count = 0;
    const { type, shown } = open(of("a"), { switched: () => void (count += 1) });
    type("\t");
    expect([count, shown()]).toEqual([1, expect.stringContaining("Tab shows all")]);
    open(of("a")).type("\t");
  });

  it("lets no control character of a choice or of a paste reach the terminal", () => {
    const { type, shown } = open([{ value: "a", label: "a\u001b[2J", description: "b\u0007", mark: "!" }]);
    expect(stripVTControlCharacters(shown())).toBe(shown());
    type("\u001b[200~\u001b[31mred\u001b[201~");
    expect(stripVTControlCharacters(shown())).toBe(shown());
  });

  it("takes 20 rows at most, however many choices and rows there are", () => {
    const opened = open(of(...Array.from({ length: 70 }, (_, index) => `choice ${index}`)));
    expect(opened.shown(60, 60).split("\n")).toHaveLength(20);
  });

  it("fits into every room, with the search and the marked choice in sight", () => {
    const choice = fc.record({
      label: fc.string({ minLength: 1, maxLength: 80 }),
      description: fc.option(fc.string(), { nil: undefined }),
    });
    fc.assert(
      fc.property(
        fc.array(choice, { maxLength: 30 }),
        fc.array(fc.constantFrom(DOWN, UP, PAGE_DOWN)),
        fc.integer({ min: 20, max: 130 }),
        fc.integer({ min: 1, max: 12 }),
        (given, keys, columns, rows) => {
          const opened = open(given.map((one, index) => ({ ...one, value: String(index), details: () => "more" })));
          opened.type(...keys);
          const { lines, cursor } = opened.picker.part.rows({ columns, rows });
          expect(lines.length).toBeLessThanOrEqual(rows);
          for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
          expect(cursor?.row).toBe(0);
          expect(cursor?.column).toBeLessThan(columns);
          if (given.length > 0 && rows > 1) expect(lines.filter((line) => line.startsWith("❯ "))).toHaveLength(1);
        },
      ),
    );
  });
});
