import { z } from "zod";
import { type AppError, errorCodes } from "../errors.ts";

/** The body of every answer that isn't a success. `next` says what to do; `details` are facts for programs. */
export const problemSchema = z
  .object({
    error: z.object({
      code: z.enum(errorCodes),
      message: z.string(),
      next: z.string(),
      retryable: z.boolean(),
      details: z.record(z.string(), z.unknown()).optional(),
    }),
  })
  .meta({ id: "Problem" });
export type Problem = z.infer<typeof problemSchema>;

/** The body that tells `error`; nothing of its cause. */
export const toProblem = (error: AppError): Problem => ({
  error: {
    code: error.code,
    message: error.message,
    next: error.next,
    retryable: error.retryable,
    ...(error.details ? { details: { ...error.details } } : {}),
  },
});
