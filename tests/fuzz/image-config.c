/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <yajl/yajl_tree.h>

#include "libstart/oci/environment.h"
#include "libstart/oci/spec-process.h"
#include "libstart/oci/spec.h"
#include "libstart/request/launch-args.h"
#include "libstart/request/launch-request.h"
#include "libstart/value/capability.h"
#include "tests/fuzz/fuzz.h"

static void check_config(const ImageConfig *image) {
        require(!image->working_dir || image->working_dir[0] == '/', "the working directory '%s'",
                image->working_dir);
        for (char **volume = image->volumes; volume && *volume; volume++)
                require_clean(*volume);
        if (image->volumes)
                require_unique(image->volumes);
        for (char **label = image->labels; label && *label; label++) {
                g_autofree char *key = g_strndup(*label, strcspn(*label, "="));

                require(strchr(*label, '=') && image_config_find_label(image, key), "the label '%s'", *label);
        }
}

#define QUADRATIC_MAX 100 /* keys of an object */

static void require_one_meaning(yajl_val object) {
        for (size_t i = 0; YAJL_IS_OBJECT(object) && i < object->u.object.len; i++) {
                const char *key = object->u.object.keys[i];

                for (size_t j = i + 1; j < MIN(object->u.object.len, i + QUADRATIC_MAX); j++)
                        require(g_ascii_strcasecmp(key, object->u.object.keys[j]) != 0, "the key '%s' is there twice",
                                key);
                require(g_str_equal(key, "User") || g_ascii_strcasecmp(key, "User") != 0, "'%s' is a user for others",
                        key);
                if (g_ascii_strcasecmp(key, "config") == 0)
                        require_one_meaning(object->u.object.values[i]);
        }
}

/* For a parser that takes the last one of two keys that are equal, in any case of letters. */
static void check_meaning(const char *text) {
        char problem[128];
        yajl_val tree = yajl_tree_parse(text, problem, sizeof problem);

        require_one_meaning(tree);
        yajl_tree_free(tree);
}

/* The container of an image that nothing is asked of but a read-only root. */
static void build(const ImageConfig *image) {
        static const char *const words[] = { "--read-only", "image", NULL };
        g_autoptr(LaunchArgs) args = launch_args_parse(words, NULL);
        g_auto(ContainerRequest) request = { 0 };
        const HostFacts host = { .hostname = "box", .nofile_hard = 1024, .bounding_caps = CAPABILITY_ALL };
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        g_auto(UserIdentity) user = { 0 };
        SpecInput input = {
                .request = &request,
                .image = image,
                .user = &user,
                .host = &host,
                .hostname = "box",
                .root = "/root",
        };
        g_autoptr(GError) error = NULL;

        require(launch_args_read(args, &request, NULL), "the arguments cannot be read");
        if (!user_resolve(image->user, NULL, NULL, &user, &error) ||
            !spec_find_capabilities(&request, image, &host, &input.capabilities, &error))
                return;
        g_auto(PayloadPlan) payload = { 0 };
        if (!payload_plan_make(&request, image, &payload, &error))
                return;
        input.payload = &payload;
        g_autofree char **environment = environment_build(&input, owned, &error);
        if (!environment)
                return;
        g_autoptr(runtime_spec_schema_config_schema) spec = spec_build(&input, NULL, &error);
        require_error(spec, error, "\xff");
        if (!spec)
                return;
        require(spec->process->user->uid == user.uid && spec->process->no_new_privileges_present == 0,
                "another user, or privileges that nobody asked for");
        for (size_t i = 0; i < spec->mounts_len; i++)
                require_clean(spec->mounts[i]->destination);
        g_autofree char *json = spec_to_json(spec, environment, &error);
        require_error(json, error, "\xff");
}

/* An image's config, and all that is made of it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(GError) error = NULL;
        g_autoptr(ImageConfig) image = image_config_parse(text, &error);

        require_error(image, error, text);
        if (!image)
                return 0;
        check_config(image);
        check_meaning(text);
        build(image);
        return 0;
}
