import { passwordBytesMin } from "@reelkeep/core/api/accounts";
import type { ReactNode } from "react";
import { TextField } from "../ui/field.tsx";

/** The fields by which a person makes an account or signs in, named as password managers expect them. */
interface PersonField {
  readonly fault: string | undefined;
}

export const NameField = ({ fault }: PersonField) => (
  <TextField label="Your name" name="name" autoComplete="name" fault={fault} required />
);

/** `fixed`: the only address that will do; it can't be changed. */
export const EmailField = ({
  fault,
  fixed = null,
  hint,
}: PersonField & { fixed?: string | null; hint?: ReactNode }) => (
  <TextField
    label="E-mail"
    name="email"
    type="email"
    autoComplete="username"
    defaultValue={fixed ?? ""}
    readOnly={fixed !== null}
    hint={hint}
    fault={fault}
    required
  />
);

/** `isNew`: it is being chosen, so its rule is told and a password manager may offer one. */
export const PasswordField = ({ fault, isNew }: PersonField & { isNew: boolean }) => (
  <TextField
    label="Password"
    name="password"
    type="password"
    autoComplete={isNew ? "new-password" : "current-password"}
    hint={isNew ? `At least ${passwordBytesMin} characters.` : undefined}
    fault={fault}
    required
  />
);
