import { hasBrand, KeelsonError, type RecordedError, type SerializedError } from "./keelson-error.ts";

/** Why a file operation failed. */
export type VfsFailure = { readonly message: string } & (
  | { readonly kind: "not-found"; readonly path: string }
  | { readonly kind: "permission-denied"; readonly path: string }
  /** A file was expected. */
  | { readonly kind: "is-directory"; readonly path: string }
  | { readonly kind: "not-directory"; readonly path: string }
  | { readonly kind: "path-traversal"; readonly attempted: string; readonly root: string }
  | { readonly kind: "scope-violation"; readonly path: string; readonly scope: string }
  | { readonly kind: "resource-limit"; readonly path: string; readonly limit: string }
  /** The file changed since it was read. */
  | { readonly kind: "conflict"; readonly path: string }
  | { readonly kind: "timeout"; readonly path: string }
  | { readonly kind: "operation-denied"; readonly path: string }
  | { readonly kind: "unsupported"; readonly operation: string }
  /** `code` is the system's, for example ENOSPC; the system error is the `cause`. */
  | { readonly kind: "io"; readonly path: string; readonly code?: string }
  | { readonly kind: "other" }
);

export const VFS_FAILURE_RETRYABLE: { readonly [K in VfsFailure["kind"]]: boolean } = {
  "not-found": false,
  "permission-denied": false,
  "is-directory": false,
  "not-directory": false,
  "path-traversal": false,
  "scope-violation": false,
  "resource-limit": false,
  "conflict": false,
  "timeout": true,
  "operation-denied": false,
  "unsupported": false,
  "io": false,
  "other": false,
};

export class VfsError extends KeelsonError<VfsFailure> {
  override readonly "name" = "VfsError";
  readonly "~keelson" = "VfsError";

  get "retryable"(): boolean {
    return VFS_FAILURE_RETRYABLE[this.failure.kind] ?? false;
  }

  static "is"<K extends VfsFailure["kind"]>(
    error: unknown,
    kind?: K,
  ): error is VfsError & { readonly failure: Extract<VfsFailure, { kind: K }> } {
    return hasBrand(error, "VfsError") && (kind === undefined || (error as VfsError).failure.kind === kind);
  }

  static "fromJSON"(data: SerializedError): RecordedError<VfsError> {
    return new VfsError(data.failure as VfsFailure, { cause: data.cause });
  }
}
