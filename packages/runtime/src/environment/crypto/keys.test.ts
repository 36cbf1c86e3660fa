import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentError } from "@keelson/protocol";
import { spawnSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { processOwner } from "../../platform/process-owner.ts";
import { deriveKey, keyFromPassphrase } from "./derive-key.ts";
import { openKeyRing } from "./file-key-ring.ts";
import { createKeyRing, newKey } from "./keys.ts";
import { loadKeys } from "./load-keys.ts";
import { createSealer } from "./sealer.ts";
import { createSignatureKeys, isSignedBy, signWith } from "./signature-keys.ts";
import { createSigner } from "./signer.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "keelson-keys-"));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

describe("a ring of keys in a file", () => {
  it("is made for its owner alone, and another process reads what a rotated key sealed", async () => {
    const path = join(home, "deep", "keys.json");
    const [ours, theirs] = [await openKeyRing(path), await openKeyRing(path)];
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const before = await createSealer(ours).sealText("one", "x");
    const id = await ours.rotate();
    const after = await createSealer(ours).sealText("two", "x");
    expect((await ours.current()).id).toBe(id);
    expect(await createSealer(theirs).openText(after, "x")).toBe("two");
    expect(await createSealer(theirs).openText(before, "x")).toBe("one");
    expect(await readdir(join(home, "deep"))).toEqual(["keys.json"]);
  });

  it("is changed again after a process was killed while it changed it", async () => {
    const path = join(home, "keys.json");
    const ring = await openKeyRing(path);
    const gone = spawnSync(process.execPath, ["-e", "process.stdout.write(String(process.pid))"]).stdout.toString();
    await writeFile(`${path}.lock`, `${processOwner().replace(/^\d+/, gone)}:left\n`, { mode: 0o600 });
    await ring.rotate();
    await writeFile(`${path}.lock`, `${processOwner("lives")}\n`, { mode: 0o600 });
    await expect(ring.rotate()).rejects.toThrow(/are being changed by another process/);
    expect((await readdir(home)).sort()).toEqual(["keys.json", "keys.json.lock"]);
  });

  it("loses no key when several rotate it at once", async () => {
    const path = join(home, "keys.json");
    const rings = await Promise.all(Array.from({ length: 5 }, () => openKeyRing(path)));
    const rotated = await Promise.allSettled(rings.map((ring) => ring.rotate()));
    const ids = rotated.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    expect(ids.length).toBeGreaterThan(0);
    const { current, previous = [] } = await loadKeys(path);
    expect([current, ...previous].map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    for (const result of rotated) if (result.status === "rejected") expect(String(result.reason)).toMatch(/changed by another process/);
  });

  it("drops a key that nothing needs, and never the one that seals", async () => {
    const ring = await openKeyRing(join(home, "keys.json"));
    const { id } = await ring.current();
    await expect(ring.drop(id)).rejects.toThrow(/rotate before you drop it/);
    await ring.rotate();
    await ring.drop(id);
    expect(await ring.find(id)).toBeUndefined();
  });

  it("tells nothing of what stands in a damaged file, not even as the cause", async () => {
    const path = join(home, "keys.json");
    await writeFile(path, '{"v":1,"current":{"id":"a","secret":"c2VjcmV0LWNhbmFyeQ"', { mode: 0o600 });
    const error: unknown = await loadKeys(path).catch((thrown: unknown) => thrown);
    expect(AgentError.is(error, "backend") && JSON.stringify(error)).toContain("are no JSON");
    expect(JSON.stringify(error) + String((error as Error).stack) + String((error as Error).cause)).not.toContain("c2VjcmV0");
  });

  it("is refused when it is longer than any file of keys", async () => {
    const path = join(home, "keys.json");
    await writeFile(path, " ".repeat(70_000), { mode: 0o600 });
    await expect(loadKeys(path)).rejects.toThrow(/longer than 65536 bytes/);
  });
});

describe("keys for a purpose", () => {
  it("are the same for the same purpose, and share nothing with those for another", () => {
    const { secret } = newKey();
    expect(deriveKey(secret, "a")).toEqual(deriveKey(secret, "a"));
    expect(deriveKey(secret, "a")).toHaveLength(32);
    expect(deriveKey(secret, "a")).not.toEqual(deriveKey(secret, "b"));
    expect(deriveKey(secret, "a")).not.toEqual(deriveKey(newKey().secret, "a"));
  });

  it("come from a passphrase and its salt, however the letters were typed", async () => {
    const options = { salt: new Uint8Array(16).fill(1), cost: 1024 };
    const key = await keyFromPassphrase("Zürich", options);
    expect(key).toHaveLength(32);
    expect(await keyFromPassphrase("Zu\u0308rich", options)).toEqual(key);
    expect(await keyFromPassphrase("Zurich", options)).not.toEqual(key);
    expect(await keyFromPassphrase("Zürich", { ...options, salt: new Uint8Array(16) })).not.toEqual(key);
    await expect(keyFromPassphrase("x", { salt: new Uint8Array(15) })).rejects.toThrow(/15 bytes/);
  });
});

describe("a signature", () => {
  it("holds for its text, its purpose and its key, also after that was rotated", async () => {
    const old = newKey();
    const signer = createSigner(createKeyRing({ current: old }), "webhook");
    const signature = await signer.sign("text");
    expect(signature).toMatch(/^[\w-]+\.[\w-]{43}$/);
    expect(await signer.verify("text", signature)).toBe(true);
    expect(await signer.verify("text ", signature)).toBe(false);
    expect(await createSigner(createKeyRing({ current: old }), "cookie").verify("text", signature)).toBe(false);
    expect(await createSigner(createKeyRing({ current: newKey(), previous: [old] }), "webhook").verify("text", signature)).toBe(true);
    expect(await createSigner(createKeyRing({ current: newKey() }), "webhook").verify("text", signature)).toBe(false);
    for (const broken of ["", ".", signature.slice(0, -1), `x${signature}`]) expect(await signer.verify("text", broken)).toBe(false);
  });

  it("of a pair of keys is verified with the public one alone", () => {
    const [ours, theirs] = [createSignatureKeys(), createSignatureKeys()];
    const signature = signWith(ours.privateKey, "text");
    expect(isSignedBy(ours.publicKey, "text", signature)).toBe(true);
    expect(isSignedBy(ours.publicKey, "Text", signature)).toBe(false);
    expect(isSignedBy(theirs.publicKey, "text", signature)).toBe(false);
    expect(isSignedBy(ours.publicKey, "text", "")).toBe(false);
  });
});
