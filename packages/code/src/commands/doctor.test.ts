import { describe, expect, it } from "vitest";
import { keyFindings, nodeFinding, vendorFindings } from "./doctor.ts";

describe("doctor", () => {
  it("never shows a key, nor credentials in an address", () => {
    const findings = keyFindings({ ANTHROPIC_API_KEY: "sk-secret", OPENAI_BASE_URL: "http://user:sk-secret@localhost:1/v1?key=sk-secret" });
    expect(JSON.stringify(findings)).not.toContain("secret");
    expect(findings.map(({ state }) => state)).toEqual(["ok", "ok", "missing", "missing"]);
    expect(findings[1]?.detail).toContain("http://localhost:1/v1");
  });

  it("calls missing keys broken only when there is no way to a model at all", () => {
    expect(keyFindings({}).map(({ state }) => state)).toEqual(["broken", "broken", "broken", "broken"]);
    expect(keyFindings({}, true).map(({ state }) => state)).toEqual(Array(4).fill("missing"));
    expect(keyFindings({ OPENAI_API_KEY: "k" }).map(({ state }) => state)).toEqual(["missing", "ok", "missing", "missing"]);
    expect(keyFindings({ OLLAMA_HOST: "localhost" })[3]).toEqual({ what: "ollama", state: "ok", detail: "models of http://localhost/" });
  });

  it("tells of vendors that are compatible with OpenAI where there is a way to them, and of no others", async () => {
    expect(await vendorFindings({ ANTHROPIC_API_KEY: "k", GEMINI_API_KEY: "k" })).toEqual([]);
    const found = await vendorFindings({ GROQ_API_KEY: "gsk-secret", VLLM_BASE_URL: "http://me:secret@gpu:8000/v1" });
    expect(found).toEqual([
      { what: "groq", state: "ok", detail: "GROQ_API_KEY set; --model groq/<id>" },
      { what: "vllm", state: "ok", detail: "VLLM_BASE_URL set (http://gpu:8000/v1); --model vllm/<id>" },
    ]);
  });

  it("wants a new enough Node", () => {
    for (const version of ["22.19.0", "22.20.1", "23.11.0", "24.0.0", "26.10.0"]) expect(nodeFinding(version).state, version).toBe("ok");
    for (const version of ["18.20.8", "20.19.5", "22.18.9", "22.9.0", "23.0.0", "23.10.2"])
      expect(nodeFinding(version), version).toEqual({
        what: "Node",
        state: "broken",
        detail: `Keelson needs Node 22.19 or newer (>=22.19 <23 || >=23.11); this is Node ${version}. Install a newer Node and run it again.`,
      });
  });
});
