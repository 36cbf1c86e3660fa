import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeText } from "../reading/encode-text.ts";
import type { TextEncoding } from "../reading/text-encoding.ts";
import { readEditable } from "./editable-text.ts";
import { placeEdit, searchedText } from "./place-edit.ts";
import { placeEdits } from "./place-edits.ts";
import { wereEdited } from "./was-edited.ts";

const text = (units: readonly string[], maxLength: number) => fc.string({ unit: fc.constantFrom(...units), maxLength });
const bytes = (given: string): Buffer => Buffer.from(given, "utf8");

describe("the placing of edits", () => {
  it("keeps all bytes outside of the replaced text, in every encoding", () => {
    const samples: readonly (readonly [TextEncoding, readonly string[]])[] = [
      ["utf-8", ["a", "é", "日", "😀", "\n", "\r\n", " "]],
      ["utf-16le", ["a", "é", "日", "😀", "\n", "\r\n"]],
      ["utf-16be", ["a", "日", "😀", "\n"]],
      ["gb18030", ["a", "这是一", "测试文件", "😀", "\n"]],
      ["shift_jis", ["a", "これは", "テスト", "漢字", "\n"]],
      ["windows-1252", ["a", "b ", "é", "ü", "\n"]],
    ];
    for (const [encoding, units] of samples)
      fc.assert(
        fc.property(text(units, 12), text(units, 12), fc.constantFrom(...units), fc.boolean(), (before, after, wanted, hasMark) => {
          const old = "OLD";
          const encode = (given: string, mark: boolean): Buffer =>
            Buffer.from(encodeText(given, encoding, { hasMark: mark && encoding !== "gb18030" }) as Uint8Array);
          const isMarked = hasMark || encoding.startsWith("utf-16");
          const content = encode(before + old + after, isMarked);
          const editable = readEditable(content);
          // Short texts look like others.
          fc.pre(editable?.encoding === encoding && editable.text === before + old + after);
          const placed = placeEdits(content, [{ old, wanted }]);
          if (placed.kind === "failed" && placed.failure.kind === "refused") return;
          if (placed.kind !== "placed") throw new Error(placed.kind);
          const [head, tail] = [encode(before, isMarked), encode(after, false)];
          expect(placed.content.subarray(0, head.length)).toEqual(head);
          expect(placed.content.subarray(placed.content.length - tail.length)).toEqual(tail);
        }),
        { numRuns: 100 },
      );
  });

  it("never takes one of two candidates: a text that stands twice is placed nowhere", () => {
    const line = fc.constantFrom("if (a) {", "  b();", "    b();", "\tb();", "}", "", "  ", "say(“x”);", 'say("x");', "c() ;");
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 4 }),
        fc.array(line, { maxLength: 4 }),
        fc.array(line, { maxLength: 3 }),
        (block, between, around) => {
          const old = block.join("\n");
          fc.pre(old.trim() !== "");
          const file = [...around, ...block, "BETWEEN", ...between, ...block, "END"].join("\n");
          const placed = placeEdit(searchedText(file), { old, wanted: `${old}!` });
          expect(placed.kind).toBe("ambiguous");
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("never takes one of two candidates that differ from the old text in the same way", () => {
    const variants: readonly ((block: string) => string)[] = [
      (block) => block.replaceAll("\n", "\r\n"),
      (block) => block.replaceAll("\n", "  \n"),
      (block) => block.replaceAll('"', "“"),
      (block) => block.replaceAll(/^/gm, "    "),
      (block) => block.replaceAll(/^ {2}/gm, "\t"),
      (block) => block.replace("second", "2nd"),
    ];
    for (const vary of variants) {
      const old = 'first("a") {\n  second(1);\n  third();\n}';
      const file = `x\n${vary(old)}\nbetween\n${vary(old)}\ny\n`;
      expect(placeEdit(searchedText(file), { old, wanted: old.replace("third", "fourth") }).kind).toBe("ambiguous");
    }
  });

  it("changes nothing but what the edit changes, however the old text differs", () => {
    const body = fc.array(fc.constantFrom("alpha(1);", "beta(“x”);", "gamma('y') — z;", "delta[0] = 2;"), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        body,
        fc.constantFrom("", "  ", "\t", "    "),
        fc.constantFrom("\n", "\r\n"),
        fc.constantFrom("", "  "),
        (lines, indent, end, trailing) => {
          const block = ["start {", ...lines.map((each) => `  ${each}`), "finish }"];
          const file = ["top", ...block.map((each) => indent + each + trailing), "bottom", ""].join(end);
          const plain = (each: string): string => each.replaceAll("“", '"').replaceAll("”", '"').replaceAll("—", "-");
          const old = block.map(plain).join("\n");
          const wanted = `${old}\nadded();`;
          const placed = placeEdit(searchedText(file), { old, wanted });
          if (placed.kind !== "placed") throw new Error(`${placed.kind} for ${JSON.stringify(file)}`);
          const [edit] = placed.edits;
          if (edit === undefined) throw new Error("no edit");
          const after = file.slice(0, edit.start) + edit.text + file.slice(edit.end);
          // Taking the added line out gives the file again.
          const added = after.split(end).findIndex((each) => each.trim() === "added();");
          expect(added).toBeGreaterThan(0);
          expect(after.split(end)[added]).toMatch(new RegExp(`^${indent}added`));
          const rest = after.split(end);
          rest.splice(added, 1);
          expect(rest.map((each) => each.trimEnd())).toEqual(file.split(end).map((each) => each.trimEnd()));
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("the verdict on an edit after a crash", () => {
  const piece = text(["a", "b", "\n"], 8);
  it("is never wrong: an edit that was made is not reported as not made, nor the other way round", () => {
    fc.assert(
      fc.property(piece, text(["a", "b"], 3), piece, fc.boolean(), (content, old, wanted, isForAll) => {
        fc.pre(old !== wanted && old !== "");
        const edits = [{ old, wanted, isForAll }];
        const placed = placeEdits(bytes(content), edits);
        if (placed.kind !== "placed") return;
        expect(wereEdited(bytes(content), edits)).not.toBe("done");
        expect(wereEdited(placed.content, edits)).not.toBe("not-done");
      }),
      { numRuns: 5000 },
    );
  });

  it("is never wrong for edits that were placed loosely", () => {
    const line = fc.constantFrom("alpha();", "  alpha();", "\talpha();", "beta(“x”);", "  beta(“x”);", "gamma();  ", "gamma();", "}");
    const lines = fc.array(line, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(lines, fc.nat(), fc.nat(), lines, fc.constantFrom("\n", "\r\n"), (file, from, length, wanted, end) => {
        const start = from % file.length;
        const given = file.slice(start, start + 1 + (length % 3)).map((each) => each.replaceAll(/[“”]/g, '"').trimEnd());
        const edits = [{ old: given.map((each) => each.replace(/^\s+/, "")).join("\n"), wanted: wanted.join("\n") }];
        const content = bytes(file.join(end));
        const placed = placeEdits(content, edits);
        if (placed.kind !== "placed") return;
        expect(wereEdited(content, edits)).not.toBe("done");
        expect(wereEdited(placed.content, edits)).not.toBe("not-done");
      }),
      { numRuns: 2000 },
    );
  });
});
