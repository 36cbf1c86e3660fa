import { describe, expect, it } from "vitest";
import { pageUrl } from "./page-url.ts";

describe("the address of a page", () => {
  it.each([
    ["https://example.com/pay?a=b#c", "https://example.com/pay?a=b#c"],
    ["http://localhost:8080", "http://localhost:8080/"],
    ["HTTPS://EXAMPLE.com/a b", "https://example.com/a%20b"],
    ["https://example.com/\u001b[31mred", "https://example.com/%1B[31mred"],
    ["https://example.com/a\nhttps://bank.example/", "https://example.com/ahttps://bank.example/"],
    ["https://example.com/?q=\u202egnp.exe", "https://example.com/?q=%E2%80%AEgnp.exe"],
    ["https://\u0430pple.com/", "https://xn--pple-43d.com/"],
    ["https://example.com/#\u0007x", "https://example.com/#%07x"],
  ])("%j is shown in its normal form", (given, shown) => {
    expect(pageUrl(given)).toEqual({ url: shown });
  });

  it.each([
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,<script>",
    "vbscript:x",
    "ms-settings:",
    "ftp://example.com/",
    "ws://example.com/",
    "//example.com/",
    "example.com",
    "",
    "https://",
    "https://bank.example@evil.example/",
    "https://user:password@example.com/",
    `https://example.com/${"x".repeat(5000)}`,
    `https://example.com/${"\u00e9".repeat(2000)}`,
    undefined,
    7,
  ])("%j is not shown, with the reason", (given) => {
    expect(pageUrl(given)).toEqual({ problem: expect.stringContaining("page") });
  });
});
