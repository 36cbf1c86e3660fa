import { describe, expect, it } from "vitest";
import { ollamaAddress } from "./ollama-address.ts";

describe("ollamaAddress", () => {
  it.each([
    ["", "http://localhost:11434"],
    ["192.168.1.5", "http://192.168.1.5:11434"],
    ["box:8080", "http://box:8080"],
    [":8080", "http://localhost:8080"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["0.0.0.0:9000", "http://127.0.0.1:9000"],
    ["[::1]:9000", "http://[::1]:9000"],
    ["[::]", "http://127.0.0.1:11434"],
    ["http://box", "http://box"],
    ["https://ollama.com/", "https://ollama.com"],
    ["http://box:1/ollama/", "http://box:1/ollama"],
    ["http://box:11434/v1", "http://box:11434"],
    ["http://box:11434/api/", "http://box:11434"],
    ["  'box'  ", "http://box:11434"],
  ])("reads %j as %s [PV-08]", (host, address) => expect(ollamaAddress(host)).toBe(address));
});
