import { z } from "zod";

/** The longest body that the API takes; a description of 5000 characters is the most that anybody needs. */
export const bodyBytesMax = 64 * 1024;

/** Where a page of a list ended, as an earlier answer gave it. */
export const cursorSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,200}$/, "must be a cursor that an answer gave");
