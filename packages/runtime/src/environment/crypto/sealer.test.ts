import { EnvironmentError } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createKeyRing, newKey } from "./keys.ts";
import { createSealer } from "./sealer.ts";

const first = newKey();
const sealer = createSealer(createKeyRing({ current: first }));
const refused = (opening: Promise<unknown>): Promise<void> =>
  expect(opening).rejects.toSatisfy((error) => EnvironmentError.is(error, "credential-failed"));

describe("a sealed value", () => {
  it("opens to what was sealed, whatever it is and belongs to", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5000 }), fc.string({ unit: "grapheme" }), async (plain, associated) => {
        const sealed = await sealer.seal(plain, associated);
        expect(await sealer.open(sealed, associated)).toEqual(plain);
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), async (plain) => {
        const sealed = await sealer.sealText(plain, "name");
        expect(sealed).toMatch(/^[\w.-]+$/);
        expect(await sealer.openText(sealed, "name")).toBe(plain);
      }),
    );
  });

  it("becomes the same bytes where it is sealed alike, for one place and key, and no others", async () => {
    const others = createSealer(createKeyRing({ current: newKey(), previous: [first] }));
    const plain = Buffer.from("hunter2");
    const sealed = await sealer.sealAlike(plain, "blob");
    expect(await sealer.sealAlike(Buffer.from("hunter2"), "blob")).toEqual(sealed);
    for (const other of [
      sealer.sealAlike(plain, "elsewhere"),
      sealer.sealAlike(Buffer.from("hunter3"), "blob"),
      others.sealAlike(plain, "blob"),
    ])
      expect(await other).not.toEqual(sealed);
    // Where the place ends and the value begins makes a difference, too.
    expect((await sealer.sealAlike(Buffer.from("b"), "a")).subarray(0, 40)).not.toEqual(
      (await sealer.sealAlike(new Uint8Array(), "ab")).subarray(0, 40),
    );
    expect(Buffer.from(await others.open(sealed, "blob")).toString()).toBe("hunter2");
    await refused(sealer.open(sealed, "elsewhere"));
  });

  it("does not open when any bit of it was changed, when it was cut, or where it doesn't belong", async () => {
    const sealed = await sealer.seal(Buffer.from("hunter2"), "db/password");
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Uint8Array.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
      await refused(sealer.open(changed, "db/password"));
    }
    for (let length = 0; length < sealed.length; length++) await refused(sealer.open(sealed.subarray(0, length), "db/password"));
    await refused(sealer.open(sealed, "db/user"));
    await refused(sealer.open(sealed, ""));
  });

  it("does not open as text when a character was added that base64 would skip", async () => {
    const sealed = await sealer.sealText("hunter2", "x");
    for (const changed of [`${sealed}=`, `${sealed}\n`, sealed.replace(".", ". "), sealed.slice(0, -1), "", "plain"])
      await refused(sealer.openText(changed, "x"));
  });

  it("differs each time, and holds nothing of what it seals", async () => {
    const [one, two] = await Promise.all([sealer.sealText("hunter2hunter2", "x"), sealer.sealText("hunter2hunter2", "x")]);
    expect(one).not.toBe(two);
    expect(Buffer.from(one.slice(17), "base64url").includes("hunter2")).toBe(false);
  });

  it("opens after a rotation, is sealed anew on request, and then needs the old key no more", async () => {
    const second = newKey();
    const both = createSealer(createKeyRing({ current: second, previous: [first] }));
    const old = await sealer.sealText("hunter2", "x");
    expect(await both.openText(old, "x")).toBe("hunter2");
    const moved = await both.resealText(old, "x");
    const alone = createSealer(createKeyRing({ current: second }));
    expect(await alone.openText(moved, "x")).toBe("hunter2");
    expect(await both.resealText(moved, "x")).toBe(moved);
    await expect(alone.openText(old, "x")).rejects.toThrow(`the key "${first.id}", which is not known here`);
  });

  it("of one key does not open with another of the same id", async () => {
    const impostor = createSealer(createKeyRing({ current: { ...newKey(), id: first.id } }));
    await refused(impostor.openText(await sealer.sealText("hunter2", "x"), "x"));
  });

  it("opens in this form for ever: a value of the first release", async () => {
    const fixed = createSealer(createKeyRing({ current: { id: "k1", secret: new Uint8Array(32).fill(7) } }));
    expect(await fixed.openText(FIRST_RELEASE, "greeting")).toBe("hello");
  });
});

const FIRST_RELEASE = "keelson-sealed-1.S1NMMQJrMTKQmlvNQr_pFELib-_6Y_IFC9IMxq2ThcGpf2QNpeL9fEnubs0";
