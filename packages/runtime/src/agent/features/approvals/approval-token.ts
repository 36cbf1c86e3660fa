import { AgentError, type ApprovalRequest, type CallId, type RunId, type SessionId } from "@keelson/protocol";
import { nodeCrypto } from "../../../platform/node-crypto.ts";
import { equalInConstantTime, hmac } from "../../../environment/crypto/hmac.ts";
import { checkApprovalKeys, type ApprovalKeys } from "../../turn/approval-keys.ts";
import { checkOptionNames } from "../../../json/option-names.ts";
import { checkMethodOptions, type MethodOptions } from "../../../json/check-method-options.ts";
import { FLAG_OPTION, FUNCTION_OPTION } from "../../../json/option-rules.ts";

const TOKEN_METHODS: MethodOptions<ApprovalTokens> = { verify: [1, { expired: FLAG_OPTION }, "throws"] };

/** What a token lets its bearer decide: this question about this call with these arguments, once, until then. */
export interface ApprovalClaims {
  readonly runId: RunId;
  /** Finds the inbox that the decision goes to. */
  readonly session: SessionId;
  readonly callId: CallId;
  readonly tool: string;
  readonly toolVersion: string;
  /** Of the final arguments: a call that changed since needs a new token. */
  readonly argumentsDigest: string;
  readonly question: ApprovalRequest["type"];
  /** How often this question was asked, from 1: edited arguments are asked about again. */
  readonly attempt: number;
  /** Unix ms after which the token is refused. */
  readonly expiresAt: number;
  /** The decision's key in the inbox, which takes a key only once: so a token works only once. */
  readonly nonce: string;
}

export interface ApprovalTokens {
  /**
   * The same question always gets the same token, so that a replay finds the one it gave out before.
   * @param question.place where it is asked in the run: the same about a call may be asked at several places, once at each
   */
  issue(question: Omit<ApprovalClaims, "nonce" | "attempt"> & { readonly attempt?: number; readonly place: string }): string;
  /**
   * @param options.expired whether the claims of a token that is too old are wanted all the same. Default false.
   * @throws AgentError of kind `invalid-token`, with `reason` malformed, forged or expired
   */
  verify(token: string, options?: { readonly expired?: boolean }): ApprovalClaims;
  /** Whether a token that was issued at some time, somewhere, can be used with the keys that are here. Its time is not looked at. */
  isOurs(token: string): boolean;
}

const PREFIX = "keelson-approval-1";

/** @param options.now Unix ms; only `verify` asks it */
export function createApprovalTokens(options: { readonly keys: ApprovalKeys; readonly now: () => number }): ApprovalTokens {
  checkOptionNames("createApprovalTokens", options, { keys: true, now: FUNCTION_OPTION });
  const { keys, now } = options;
  checkApprovalKeys(keys);
  const secrets = new Map([keys.current, ...(keys.previous ?? [])].map(({ id, secret }) => [id, secret]));

  const tokens: ApprovalTokens = {
    issue({ attempt = 1, place, ...question }) {
      const nonce = nodeCrypto()
        .createHash("sha256")
        .update(
          JSON.stringify([
            question.runId,
            question.callId,
            question.question,
            attempt,
            place,
            question.toolVersion,
            question.argumentsDigest,
          ]),
        )
        .digest("base64url")
        .slice(0, 22);
      const body = `${PREFIX}.${keys.current.id}.${encodeClaims({ ...question, attempt, nonce })}`;
      return `${body}.${hmac(keys.current.secret, body)}`;
    },

    verify(token, { expired = false } = {}) {
      const [prefix, keyId = "", payload = "", signature = "", ...rest] = (typeof token === "string" ? token : "").trim().split(".");
      if (prefix !== PREFIX || keyId === "" || payload === "" || signature === "" || rest.length > 0) {
        throw refused("malformed", "This is no approval token. Copy it whole, as the question showed it.");
      }
      const secret = secrets.get(keyId);
      if (secret === undefined) {
        throw refused(
          "forged",
          `The approval token was signed with the key "${keyId}", which is not known here. Decide on the machine (or with the approvalKeys) that asked, or resume the session for a new token.`,
        );
      }
      if (!equalInConstantTime(signature, hmac(secret, `${prefix}.${keyId}.${payload}`))) {
        throw refused("forged", "The approval token was changed or not signed by this key. Copy it whole, as the question showed it.");
      }
      const claims = decodeClaims(payload);
      if (!expired && now() > claims.expiresAt) {
        throw refused(
          "expired",
          `The approval token for ${claims.tool} expired at ${new Date(claims.expiresAt).toISOString()}. Resume the session ${claims.session} for a new one.`,
        );
      }
      return claims;
    },

    isOurs(token) {
      try {
        tokens.verify(token, { expired: true });
        return true;
      } catch (error) {
        if (AgentError.is(error, "invalid-token")) return false;
        throw error;
      }
    },
  };
  return checkMethodOptions("tokens", tokens, TOKEN_METHODS);
}

/** The claims as a list in this order: one question has one encoding. */
function encodeClaims(claims: ApprovalClaims): string {
  const { runId, session, callId, tool, toolVersion, argumentsDigest, question, attempt, expiresAt, nonce } = claims;
  return Buffer.from(
    JSON.stringify([runId, session, callId, tool, toolVersion, argumentsDigest, question, attempt, expiresAt, nonce]),
  ).toString("base64url");
}

/** Only ever given what this code signed. */
function decodeClaims(payload: string): ApprovalClaims {
  const [runId, session, callId, tool, toolVersion, argumentsDigest, question, attempt, expiresAt, nonce] = JSON.parse(
    Buffer.from(payload, "base64url").toString(),
  ) as [RunId, SessionId, CallId, string, string, string, ApprovalRequest["type"], number, number, string];
  return { runId, session, callId, tool, toolVersion, argumentsDigest, question, attempt, expiresAt, nonce };
}

function refused(reason: "malformed" | "forged" | "expired", message: string): AgentError {
  return new AgentError({ kind: "invalid-token", reason, message });
}
