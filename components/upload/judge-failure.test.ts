import { errorCodes, errorInfo } from "@reelkeep/core/errors";
import { describe, expect, it } from "vitest";
import { problemOf } from "../api-client.ts";
import { judgeFailure } from "./judge-failure.ts";

const storage = (status: number) =>
  Object.assign(new Error(`S3 returned ${status}`), { name: "S3ServiceError", status });
const network = Object.assign(new Error("Network error during S3 request"), {
  name: "S3NetworkError",
  code: "NETWORK",
});

describe("what becomes of an upload after a failure", () => {
  it("U2 an ended URL is signed again", () => {
    expect(judgeFailure(storage(403), false)).toBe("sign-again");
    expect(judgeFailure(storage(403), true)).toBe("sign-again");
  });

  it.each([412, 404, 409])("U3 after a %i the server decides whether the file is there", (status) => {
    expect(judgeFailure(storage(status), false)).toBe("ask-server");
  });

  it("U3 any storage or network error after the last byte asks the server", () => {
    for (const error of [storage(500), storage(400), network, new Error("response missing Location or Key")])
      expect(judgeFailure(error, true)).toBe("ask-server");
  });

  it("U3 a lost network is waited for, a fault of storage is tried again", () => {
    expect(judgeFailure(network, false)).toBe("await-network");
    expect(judgeFailure(storage(503), false)).toBe("try-later");
    expect(judgeFailure(storage(400), false)).toBe("try-later");
  });

  it("U1 what the server refuses for good isn't tried again", () => {
    expect(judgeFailure(problemOf("file-type-not-allowed"), false)).toBe("refused");
    expect(judgeFailure(problemOf("file-too-large"), false)).toBe("refused");
  });

  it("U1 signing in again or freeing space leaves the file ready to go on", () => {
    expect(judgeFailure(problemOf("unauthenticated"), false)).toBe("stopped");
    expect(judgeFailure(problemOf("quota-exceeded"), false)).toBe("stopped");
  });

  it("U3 an upload that ended elsewhere is asked about", () => {
    expect(judgeFailure(problemOf("upload-closed"), false)).toBe("ask-server");
    expect(judgeFailure(problemOf("upload-expired"), false)).toBe("ask-server");
  });

  it("U3 every retryable code of the server is tried again", () => {
    for (const code of errorCodes.filter((name) => errorInfo(name).retryable))
      expect(judgeFailure(problemOf(code), false)).toBe("try-later");
  });
});
