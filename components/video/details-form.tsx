"use client";
import { type AssetSummary, assetChangeSchema } from "@reelkeep/core/api/assets";
import { useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { useContractForm } from "../account/form-state.ts";
import { changeAsset } from "../api-client.ts";
import { assetsKey } from "../library/use-assets.ts";
import { Button } from "../ui/button.tsx";
import { TextArea, TextField } from "../ui/field.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";

/** Title and description, for whoever may change them. */
export function DetailsForm({ asset, onSaved }: { asset: AssetSummary; onSaved: () => void }) {
  const queryClient = useQueryClient();
  const { submit, faults, error, busy } = useContractForm({
    contract: assetChangeSchema,
    send: (change) => changeAsset(asset.id, change),
    onDone: (changed) => {
      queryClient.setQueryData(["asset", asset.id], changed);
      void queryClient.invalidateQueries({ queryKey: assetsKey });
      toast.success("Saved");
      onSaved();
    },
  });
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <TextField label="Title" name="title" defaultValue={asset.title} fault={faults.title} maxLength={200} />
      <TextArea
        label="Description"
        name="description"
        defaultValue={asset.description}
        fault={faults.description}
        rows={5}
        maxLength={5000}
      />
      {error && <ProblemNote error={error} />}
      <div className="flex justify-end gap-3">
        <Button onClick={onSaved}>Cancel</Button>
        <Button type="submit" look="next" disabled={busy}>
          {busy ? "Saving" : "Save"}
        </Button>
      </div>
    </form>
  );
}
