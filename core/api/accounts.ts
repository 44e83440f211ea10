/** `/api/session`, `/api/welcome`, `/api/invitations`, `/api/people`: who is here and who is let in. */
import { z } from "zod";
import { roles } from "../access/policy.ts";
import { uuidSchema } from "../ids.ts";
import { trimmedLineSchema } from "../text.ts";

export const passwordBytesMin = 10;
const name = trimmedLineSchema.min(1, "Tell us your name.").max(100);
const email = z.email("This isn't an e-mail address.").max(254).toLowerCase();
const password = z.string().min(passwordBytesMin, `Use at least ${passwordBytesMin} characters.`).max(128);

export const accountSchema = z
  .object({ id: z.string(), name: z.string(), email: z.string(), role: z.enum(roles) })
  .meta({ id: "Account" });
export type Account = z.infer<typeof accountSchema>;

/** What signing in and setting up answer; the session itself is a cookie. */
export const signedInSchema = z.object({ account: accountSchema }).meta({ id: "SignedIn" });

/** `POST /api/session`: sign in. `DELETE /api/session`: sign out. */
export const signInSchema = z.object({ email, password: z.string().min(1).max(128) }).meta({ id: "SignIn" });
export type SignIn = z.infer<typeof signInSchema>;

/** `POST /api/welcome`: the first account, with the one-time code that was printed at start. */
export const welcomeSchema = z
  .object({ code: z.string().trim().min(1, "Enter the code."), name, email, password })
  .meta({ id: "Welcome" });
export type Welcome = z.infer<typeof welcomeSchema>;

/** `POST /api/assets/{id}/invitations` and `POST /api/people/invitations`. */
export const invitationRequestSchema = z
  .object({
    /** Shown in the list; when set, only an account with this address may accept. */
    email: email.optional(),
  })
  .meta({ id: "InvitationRequest" });
export type InvitationRequest = z.infer<typeof invitationRequestSchema>;

export const invitationStates = ["open", "accepted", "expired", "revoked"] as const;

export const invitationSchema = z
  .object({
    id: uuidSchema,
    email: z.string().nullable(),
    role: z.enum(roles),
    assetId: uuidSchema.nullable(),
    state: z.enum(invitationStates),
    acceptedBy: z.object({ id: z.string(), name: z.string() }).nullable(),
    createdAt: z.string(),
    expiresAt: z.string(),
  })
  .meta({ id: "Invitation" });
export type Invitation = z.infer<typeof invitationSchema>;

/** The link is answered once, at creation; only its hash is stored. */
export const newInvitationSchema = z
  .object({ invitation: invitationSchema, url: z.string() })
  .meta({ id: "NewInvitation" });
export type NewInvitation = z.infer<typeof newInvitationSchema>;

export const invitationListSchema = z
  .object({ invitations: z.array(invitationSchema) })
  .meta({ id: "InvitationList" });

/** `POST /api/invitations/accept`: signed in, the token suffices; else it also makes the account. */
export const acceptInvitationSchema = z
  .object({ token: z.string().min(20).max(100), account: z.object({ name, email, password }).optional() })
  .meta({ id: "AcceptInvitation" });
export type AcceptInvitation = z.infer<typeof acceptInvitationSchema>;

export const acceptedInvitationSchema = z
  .object({ assetId: uuidSchema.nullable(), account: accountSchema })
  .meta({ id: "AcceptedInvitation" });
export type AcceptedInvitation = z.infer<typeof acceptedInvitationSchema>;

/** What the page behind an invitation's link shows before it is accepted. */
export interface InvitationPreview {
  readonly invitedBy: string;
  readonly assetTitle: string | null;
  readonly email: string | null;
}

/** `GET /api/people`, for admins. */
export const peopleSchema = z
  .object({
    people: z.array(accountSchema.extend({ createdAt: z.string(), videoCount: z.number().int() })),
    invitations: z.array(invitationSchema),
  })
  .meta({ id: "People" });
export type People = z.infer<typeof peopleSchema>;
