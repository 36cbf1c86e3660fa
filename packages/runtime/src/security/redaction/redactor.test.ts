import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor, type RedactorOptions } from "./redactor.ts";

/** Joined here, so that nothing in this repository has the form of a live credential. */
const join = (...parts: readonly string[]): string => parts.join("");
const AWS = join("AK", "IA", "IOSFODNN7EXAMPL3");
const GITHUB = join("gh", "p_", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6");
const VAULT = join("hv", "s.", "CAESIJ7-x9_aZ");
const KEY = `-----BEGIN RSA ${"PRIVATE KEY"}-----\n${"MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MaGBir/JbHFOqX3v\n".repeat(12)}-----END RSA ${"PRIVATE KEY"}-----`;
const PASSWORD = 'tr0ub4dor&3 "quoted" / ünï';

const redact = (text: string, options: RedactorOptions = {}): string => createRedactor(options).redact(text);

/** What a stream gives for a text that is cut at these places. */
function streamed(text: string, cuts: readonly number[], options: RedactorOptions): string {
  const stream = createRedactor(options).stream();
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
  return (
    places
      .slice(1)
      .map((place, index) => stream.push(text.slice(places[index], place)))
      .join("") + stream.end()
  );
}

describe("redaction", () => {
  it("puts the kind in the place of what common vendors issue [BM-09]", () => {
    expect(redact(`id ${AWS}, ${VAULT} and ${GITHUB}.`)).toBe(
      "id [REDACTED:aws-access-key-id], [REDACTED:vault-token] and [REDACTED:github-token].",
    );
    expect(redact(`key:\n${KEY}\nend`)).toBe(
      `key:\n-----BEGIN RSA ${"PRIVATE KEY"}-----[REDACTED:private-key]-----END RSA ${"PRIVATE KEY"}-----\nend`,
    );
    expect(redact("postgres://app:s3cr3t-Pa55@db.internal:5432/app")).toBe("postgres://app:[REDACTED:url-password]@db.internal:5432/app");
    expect(redact(`Authorization: Bearer ${"a1B2c3D4".repeat(4)}`)).toBe("Authorization: Bearer [REDACTED:authorization]");
    expect(redact(`DB_PASSWORD="x9!Kq2 vv-77"`)).toBe(`DB_PASSWORD="[REDACTED:password]"`);
  });

  it("says what it is told to say, and looks for own patterns [BM-09]", () => {
    const options: RedactorOptions = {
      replacement: () => "[REDACTED]",
      patterns: [/EMP-\d{6}/, { kind: "ticket", begins: ["TCK"], pattern: /TCK(?<secret>\d{4})/ }],
    };
    expect(redact(`${AWS} EMP-123456 TCK9876`, options)).toBe("[REDACTED] [REDACTED] TCK[REDACTED]");
  });

  it("finds known values in every usual spelling, under their names", () => {
    const options: RedactorOptions = { secrets: [{ name: "database", value: PASSWORD }], vendors: false };
    const json = JSON.stringify(PASSWORD).slice(1, -1);
    for (const spelling of [
      PASSWORD,
      json,
      JSON.stringify(json).slice(1, -1),
      encodeURIComponent(PASSWORD),
      encodeURIComponent(PASSWORD).toLowerCase().replace("%3d", "%3d"),
      encodeURIComponent(PASSWORD).replaceAll("%20", "+"),
      Buffer.from(PASSWORD).toString("hex"),
      Buffer.from(PASSWORD).toString("hex").toUpperCase(),
    ])
      expect(redact(`<${spelling}>`, options), spelling).toBe("<[REDACTED:database]>");
  });

  it("finds known values in base64, wherever they stand in what was encoded", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 8, maxLength: 40 }),
        fc.string({ maxLength: 8 }),
        fc.string({ maxLength: 8 }),
        (value, before, after) => {
          fc.pre(value.trim().length >= 8);
          for (const encoding of ["base64", "base64url"] as const) {
            const whole = Buffer.from(before + value.toWellFormed() + after).toString(encoding);
            const left = redact(whole, { secrets: [value], vendors: false });
            expect(left).toContain("[REDACTED:secret]");
            // At either side a character holds bits of what stands beside the value.
            expect(left.length).toBeLessThanOrEqual(
              whole.length - Math.floor((value.trim().length * 8 - 12) / 6) + "[REDACTED:secret]".length,
            );
          }
        },
      ),
    );
  });

  it("leaves nothing of a known value that overlaps something else", () => {
    const value = `${AWS}-and-more`;
    expect(redact(`x ${value} y`, { secrets: [{ name: "mine", value }] })).toBe("x [REDACTED:mine] y");
    expect(redact("abcdefgh", { secrets: ["abcdef", "defgh"] })).toBe("[REDACTED:secret]");
  });

  it("leaves what it redacted as it is", () => {
    const text = `password="${"x9Kq2vv77"}" ${AWS} token=${GITHUB} secret: ${"a1B2c3D4e5F6g7"}`;
    expect(redact(redact(text))).toBe(redact(text));
  });

  it("goes through JSON: names, texts, and members whose name says that they are secret", () => {
    const redactor = createRedactor({ secrets: ["swordfish"] });
    const clean = { a: [1, null, { b: "fine" }], password: "string" };
    expect(redactor.redactJson(clean)).toBe(clean);
    expect(redactor.redactJson({ swordfish: [GITHUB, { "x-api-key": "9f8e7d6c5b4a-X" }], n: 1, __proto__: null })).toEqual({
      "[REDACTED:secret]": ["[REDACTED:github-token]", { "x-api-key": "[REDACTED:secret]" }],
      "n": 1,
      "__proto__": null,
    });
  });

  it("knows what it has learnt, and is not put off by what is too short to be told from text", () => {
    const redactor = createRedactor({ secrets: ["", "a"] });
    expect(redactor.redact("a swordfish")).toBe("a swordfish");
    redactor.learn("swordfish", "password");
    expect(redactor.redact("a swordfish")).toBe("a [REDACTED:password]");
  });
});

describe("streamed redaction", () => {
  const pieces = fc.constantFrom(
    AWS,
    AWS.slice(0, 9),
    GITHUB,
    GITHUB.slice(0, 20),
    VAULT,
    KEY,
    KEY.slice(0, 60),
    PASSWORD,
    PASSWORD.slice(0, 7),
    "swordfish",
    "swordsword",
    "fishfish",
    Buffer.from("user:swordfish").toString("base64"),
    "postgres://app:s3cr3t-Pa55@db",
    'password = "x9Kq2vv77!"',
    "Bearer abcDEF123456789012",
    "?token=abcDEF1234567890",
    "EMP-123456",
    "EMP-",
    "EEMP-1234567",
    "-----BEGIN ",
    "eyJhbGciOi.eyJzdWIiOiIx.c2ln",
    " ",
    "\n",
    "and plain words, ",
    "🗝️",
    "é",
  );
  const texts = fc
    .array(fc.oneof(pieces, fc.string({ maxLength: 6 }), fc.string({ unit: "binary", maxLength: 4 })), { maxLength: 14 })
    .map((parts) => parts.join(""));
  const cuts = fc.array(fc.nat({ max: 3000 }), { maxLength: 30 });
  const secrets = ["swordfish", "fishfish", PASSWORD, KEY];

  it("is redaction of the whole text, wherever that is cut", () => {
    fc.assert(
      fc.property(texts, cuts, (text, places) => {
        expect(streamed(text, places, { secrets })).toBe(redact(text, { secrets }));
      }),
      { numRuns: 600 },
    );
  });

  it("is so with any patterns of one's own", () => {
    const patterns = [
      /EMP-\d+/,
      { kind: "far", begins: ["E"], pattern: /E[^]{3,30}?(?<secret>\d{2,9})/, reach: 40 },
      { kind: "end", pattern: /f[^]*$/, reach: 9 },
      { kind: "behind", pattern: /(?<=(?:sword)+)f(?!ish)/, reach: 3 },
      { kind: "backwards", pattern: /(?<=(?<secret>w))o/ },
    ];
    fc.assert(
      fc.property(texts, cuts, (text, places) => {
        expect(streamed(text, places, { secrets, patterns })).toBe(redact(text, { secrets, patterns }));
      }),
      { numRuns: 300 },
    );
  });

  it("gives out plain text at once, and holds back only what may begin a secret", () => {
    const stream = createRedactor({ secrets: ["swordfish"] }).stream();
    expect(stream.push("Hello, you")).toBe("Hello, you");
    expect(stream.push(": sword")).toBe(": ");
    expect(stream.push("!")).toBe("sword!");
    expect(stream.push("; swordfis")).toBe("; ");
    expect(stream.push("h!")).toBe("[REDACTED:secret]!");
    expect(stream.push("gh")).toBe("");
    expect(stream.end()).toBe("gh");
  });

  it("holds back no more than the longest reach, however long the text and whatever it is of", () => {
    for (const unit of ["-----BEGIN PRIVATE KEY-----", "eyJ", "swordfish", "password=", "x"]) {
      const stream = createRedactor({ secrets: ["swordfishswordfish"] }).stream();
      let pushed = 0;
      let given = 0;
      for (let round = 0; round < 60; round++) {
        const piece = unit.repeat(Math.ceil(1000 / unit.length));
        pushed += piece.length;
        given += stream.push(piece).length;
        if (!unit.startsWith("sword")) expect(pushed - given).toBeLessThan(18_500);
      }
    }
  });
});
