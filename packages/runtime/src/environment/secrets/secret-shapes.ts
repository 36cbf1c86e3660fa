import { entropyOf, looksSecret } from "./looks-secret.ts";
import type { SecretShape } from "./secret-shape.ts";

/** A token that a fixed beginning gives away: that, then at least so many characters of a kind. */
const token = (kind: string, begins: readonly string[], body: string): SecretShape => ({
  kind,
  begins,
  pattern: new RegExp(`(?<![A-Za-z0-9])(?:${begins.map((text) => text.replace(/[.+]/g, "\\$&")).join("|")})${body}`),
});
const PRIVATE_KEYS = ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "PGP "].map((kind) => `-----BEGIN ${kind}PRIVATE KEY`);
/** `password: Uint8Array` */
const TYPE_NAME = /^(?:[A-Z][a-z]+)+[0-9]{0,3}(?:[A-Z][a-z]+)+$/;
const PASSWORDS = ["password", "passwd", "passphrase", "_pass", "pwd"];
const hasDigitOrCapital = (found: string): boolean => /[0-9A-Z]/.test(found);

/**
 * What the secrets of common vendors look like, as they document it or as scanners for them know it. A hash, an identifier or a
 * random string is none of these: it takes a beginning that only secrets have, or a place where only secrets stand.
 */
export const SECRET_SHAPES: readonly SecretShape[] = [
  token("aws-access-key-id", ["AKIA", "ASIA", "ABIA", "ACCA"], "[A-Z0-9]{16}"),
  {
    kind: "aws-secret-access-key",
    begins: ["aws_secret", "awssecret", "secretaccesskey", "secret_access_key"],
    pattern: /(?:aws_?)?secret_?(?:access_?)?(?:key)?["']?\s{0,8}(?:[:=]|=>)\s{0,8}["']?(?<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/i,
  },
  token("github-token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "[A-Za-z0-9]{20,255}"),
  token("github-token", ["github_pat_"], "[A-Za-z0-9_]{22,255}"),
  token("gitlab-token", ["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glagent-"], "[A-Za-z0-9_-]{20,255}"),
  token("slack-token", ["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"], "[A-Za-z0-9-]{10,255}"),
  token("slack-webhook", ["hooks.slack.com/services/", "hooks.slack.com/workflows/"], "[A-Za-z0-9/_-]{20,255}"),
  {
    ...token("vault-token", ["hvs.", "hvb.", "hvr."], "[A-Za-z0-9_-]{5,500}"),
    isSecret: (found) => /[0-9]/.test(found) || found.length >= 24,
  },
  token("anthropic-key", ["sk-ant-"], "[A-Za-z0-9_-]{16,500}"),
  token("openai-key", ["sk-proj-", "sk-svcacct-", "sk-admin-"], "[A-Za-z0-9_-]{16,500}"),
  token("openrouter-key", ["sk-or-v1-"], "[A-Za-z0-9_-]{16,500}"),
  { ...token("api-key", ["sk-"], "[A-Za-z0-9_-]{16,500}"), isSecret: (found) => hasDigitOrCapital(found.slice(3)) },
  token("google-api-key", ["AIza"], "[A-Za-z0-9_-]{30,64}"),
  token("google-client-secret", ["GOCSPX-"], "[A-Za-z0-9_-]{20,64}"),
  token("google-access-token", ["ya29."], "[A-Za-z0-9_-]{20,500}"),
  token("stripe-key", ["sk_live_", "sk_test_", "rk_live_", "rk_test_"], "[A-Za-z0-9]{16,255}"),
  token("webhook-secret", ["whsec_"], "[A-Za-z0-9+/=]{24,255}"),
  token("npm-token", ["npm_"], "[A-Za-z0-9]{36}"),
  token("pypi-token", ["pypi-AgE"], "[A-Za-z0-9_-]{50,500}"),
  token("rubygems-key", ["rubygems_"], "[0-9a-f]{48}"),
  token("docker-token", ["dckr_pat_", "dckr_oat_"], "[A-Za-z0-9_-]{20,255}"),
  token("twilio-key", ["SK"], "[0-9a-f]{32}(?![A-Za-z0-9])"),
  token("sendgrid-key", ["SG."], "[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{16,64}"),
  token("mailgun-key", ["key-"], "[0-9a-f]{32}(?![A-Za-z0-9])"),
  token("hugging-face-token", ["hf_"], "[A-Za-z0-9]{30,64}"),
  token("replicate-token", ["r8_"], "[A-Za-z0-9]{37}"),
  token("groq-key", ["gsk_"], "[A-Za-z0-9]{40,64}"),
  token("xai-key", ["xai-"], "[A-Za-z0-9]{40,128}"),
  token("perplexity-key", ["pplx-"], "[A-Za-z0-9]{40,64}"),
  token("databricks-token", ["dapi"], "[0-9a-f]{32}(?:-\\d)?(?![A-Za-z0-9])"),
  token("digitalocean-token", ["dop_v1_", "doo_v1_", "dor_v1_"], "[0-9a-f]{64}"),
  token("shopify-token", ["shpat_", "shpca_", "shppa_", "shpss_"], "[0-9a-fA-F]{32}"),
  token("linear-key", ["lin_api_"], "[A-Za-z0-9]{32,64}"),
  token("notion-token", ["ntn_"], "[A-Za-z0-9]{40,64}"),
  token("figma-token", ["figd_"], "[A-Za-z0-9_-]{30,64}"),
  token("postman-key", ["PMAK-"], "[0-9a-f]{24}-[0-9a-f]{34}"),
  token("new-relic-key", ["NRAK-"], "[A-Z0-9]{27}"),
  token("grafana-token", ["glsa_", "glc_"], "[A-Za-z0-9+/=_]{32,500}"),
  token("sentry-token", ["sntrys_", "sntryu_"], "[A-Za-z0-9+/=_-]{40,500}"),
  token("supabase-token", ["sbp_"], "[0-9a-f]{40}"),
  token("planetscale-token", ["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], "[A-Za-z0-9_.-]{32,64}"),
  token("square-token", ["sq0atp-", "sq0csp-"], "[A-Za-z0-9_-]{22,64}"),
  token("atlassian-token", ["ATATT3", "ATCTT3"], "[A-Za-z0-9_=-]{60,500}"),
  token("age-secret-key", ["AGE-SECRET-KEY-1"], "[0-9A-Z]{58}"),
  token("doppler-token", ["dp.pt.", "dp.st.", "dp.ct.", "dp.sa."], "[A-Za-z0-9._-]{40,128}"),
  { kind: "terraform-token", begins: [".atlasv1."], pattern: /\.atlasv1\.[A-Za-z0-9_=-]{40,255}/ },
  { kind: "telegram-token", begins: [":AA"], pattern: /(?<=(?<!\d)\d{8,10}):AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])/ },
  { kind: "azure-account-key", begins: ["AccountKey="], pattern: /AccountKey=(?<secret>[A-Za-z0-9+/]{64,100}={0,2})/i },
  {
    kind: "jwt",
    begins: ["eyJ"],
    pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{0,2000}/,
    reach: 8192,
  },
  {
    kind: "private-key",
    begins: PRIVATE_KEYS,
    // Also where its lines are joined by the characters `\n`, and where the end is missing.
    pattern:
      /-----BEGIN [A-Z ]{0,16}PRIVATE KEY(?: BLOCK)?-----(?<secret>[\sA-Za-z0-9+/=.:,()\\-]{16,16000}?)(?:-----END|$|(?![\sA-Za-z0-9+/=.:,()\\-]))/,
    isSecret: (found) => /[A-Za-z0-9+/=]{32}/.test(found),
    reach: 16_384,
  },
  {
    kind: "url-password",
    begins: ["://"],
    pattern: /:\/\/[^\s:/@?#"'<>`]{0,128}:(?<secret>[^\s/"'<>`]{3,256})@/,
    isSecret: (found) => !/^(?:\$|%[A-Z(]|<|\{|\*+$|x+$)|^(?:pass(?:word|wd)?|secret|pwd|token|port)$/i.test(found),
  },
  {
    kind: "authorization",
    begins: ["bearer ", "bearer\t", "token "],
    pattern: /(?<![\w-])(?:bearer|token)\s{1,8}(?<secret>[A-Za-z0-9._~+/=-]{16,4000})/i,
    reach: 4096,
    isSecret: (found) => /[0-9]/.test(found) && looksSecret(found),
  },
  {
    kind: "authorization",
    begins: ["basic "],
    pattern: /(?<![\w-])basic\s{1,8}(?<secret>[A-Za-z0-9+/]{8,1000}={0,2})/i,
    reach: 1024,
    // User and password, in base64.
    isSecret: (found) => /^[\x20-\x7e]*:[\x20-\x7e]+$/.test(Buffer.from(found, "base64").toString("latin1")),
  },
  {
    kind: "password",
    begins: ["login "],
    pattern: /(?<![\w-])login\s{1,8}\S{1,64}\s{1,8}password\s{1,8}(?<secret>\S{4,200})/i,
  },
  {
    kind: "query-secret",
    begins: ["key=", "token=", "sig=", "signature=", "secret=", "password=", "passwd=", "code="],
    pattern: /(?<=[?&][A-Za-z0-9_.-]{0,40})(?:key|token|sig|signature|secret|password|passwd|code)=(?!=)(?<secret>[^&\s"'<>#\\`]{8,400})/i,
    isSecret: looksSecret,
  },
  {
    kind: "password",
    begins: PASSWORDS,
    pattern:
      /(?:password|passwd|passphrase|_pass|pwd)["'\\]{0,3}\s{0,8}(?::=|=>|[:=])\s{0,8}\\?["'`](?<secret>[^"'`\n\r\\]{6,200})\\?["'`]/i,
    isSecret: looksSecret,
  },
  {
    kind: "password",
    begins: PASSWORDS,
    pattern: /(?:password|passwd|passphrase|_pass|pwd)\s{0,8}(?::=|[:=])\s{0,8}(?!\\?["'`])(?<secret>[^\s"'`,;)}\\]{8,200})/i,
    isSecret: (found) => looksSecret(found) && !TYPE_NAME.test(found),
  },
  {
    kind: "secret",
    begins: [
      "secret",
      "api_key",
      "api-key",
      "apikey",
      "access_key",
      "accesskey",
      "private_key",
      "privatekey",
      "auth_token",
      "authtoken",
      "access_token",
      "accesstoken",
      "refresh_token",
      "refreshtoken",
      "_token",
      "encryption_key",
      "signing_key",
    ],
    pattern:
      /(?:secret(?:_?key)?|api[_-]?key|access_?key|private_?key|(?:auth|access|refresh)_?token|_token|(?:encryption|signing)_key)["'\\]{0,3}\s{0,8}(?::=|=>|[:=])\s{0,8}(?:\\?["'`])?(?<secret>[A-Za-z0-9_/+=.~-]{12,200})(?![A-Za-z0-9_/+=.~-]|\()/i,
    isSecret: (found) => /[0-9]/.test(found) && /[A-Za-z]/.test(found) && looksSecret(found) && entropyOf(found) >= 3,
  },
];
