import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPieceDecoder, detectEncoding, type TextEncoding, toUtf8 } from "./text-encoding.ts";

const utf16 = (text: string, order: "le" | "be", mark = true): Buffer => {
  const bytes = Buffer.from((mark ? "\ufeff" : "") + text, "utf16le");
  return order === "le" ? bytes : bytes.swap16();
};
/** 中文搜索，你好世界 in GB18030. */
const CHINESE = Buffer.from("d6d0cec4cbd1cbf7a3acc4e3bac3cac0bde7", "hex");
/** 日本語のテキスト in Shift-JIS. */
const JAPANESE = Buffer.from("93fa967b8cea82cc8365834c8358836 7".replace(" ", ""), "hex");

describe("detectEncoding", () => {
  const cases: [string, Buffer, TextEncoding, string?][] = [
    ["ASCII", Buffer.from("plain text\n"), "utf-8", "plain text\n"],
    ["an empty text", Buffer.alloc(0), "utf-8", ""],
    ["UTF-8 with a byte order mark", Buffer.from("\ufeffé 日本\n"), "utf-8", "é 日本\n"],
    ["UTF-16LE with a mark", utf16("héllo 日本\r\n", "le"), "utf-16le", "héllo 日本\r\n"],
    ["UTF-16BE with a mark", utf16("héllo 日本\r\n", "be"), "utf-16be", "héllo 日本\r\n"],
    ["UTF-16LE without a mark", utf16("const a = 1;\n", "le", false), "utf-16le", "const a = 1;\n"],
    ["UTF-16BE without a mark", utf16("const a = 1;\n", "be", false), "utf-16be", "const a = 1;\n"],
    ["GB18030", Buffer.concat([Buffer.from("// "), CHINESE, Buffer.from("\n")]), "gb18030", "// 中文搜索，你好世界\n"],
    ["Shift-JIS", Buffer.concat([Buffer.from("// "), JAPANESE, Buffer.from("\n")]), "shift_jis", "// 日本語のテキスト\n"],
    ["Windows-1252", Buffer.from("Müller über Café\n", "latin1"), "windows-1252", "Müller über Café\n"],
    ["damaged UTF-8", Buffer.concat([Buffer.from("é "), Buffer.of(0xe9, 0xff), Buffer.from(" 日本\n")]), "bytes"],
    ["a picture", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), "binary"],
    ["a NUL before a text", Buffer.from("\0foo\n"), "binary"],
    ["a NUL before a letter of two bytes", Buffer.from("\0é\n"), "binary"],
    ["a NUL before a word and a tab", Buffer.from("\0_\t\n"), "binary"],
    ["a word of UTF-16LE without a mark", utf16("ok\n", "le", false), "utf-16le", "ok\n"],
    ["UTF-32", Buffer.from("fffe000061000000", "hex"), "binary"],
  ];
  it.each(cases)("recognises %s", (_: string, bytes: Buffer, encoding: TextEncoding, text?: string) => {
    expect(detectEncoding(bytes)).toBe(encoding);
    if (text !== undefined) expect(toUtf8(bytes, encoding).toString("utf8")).toBe(text);
  });

  it("takes every text of UTF-8 for UTF-8 unless it holds a NUL", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }).filter((text) => text.isWellFormed() && !text.includes("\0")),
        (text) => {
          expect(detectEncoding(Buffer.from(text))).toBe("utf-8");
        },
      ),
    );
  });

  it("recognises a legacy encoding by lines that stand after the first 64 KiB", () => {
    const bytes = Buffer.concat([Buffer.from("ascii line\n".repeat(10_000)), CHINESE, Buffer.from("\n")]);
    expect(detectEncoding(bytes)).toBe("gb18030");
  });
});

describe("createPieceDecoder", () => {
  it("decodes a text that is cut anywhere as it does the whole", () => {
    const whole = utf16("héllo 日本 😀\n", "le");
    for (let at = 2; at < whole.byteLength; at++) {
      const decode = createPieceDecoder("utf-16le");
      const parts = [whole.subarray(0, at), whole.subarray(at)].map((part) => decode(part).toString("utf8"));
      expect(parts.join("")).toBe("héllo 日本 😀\n");
    }
  });
});
