/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/request/mount-request.h"
#include "tests/fuzz/fuzz.h"

typedef MountRequest *(*Parse)(const char *value, GError **error);

/* As Mount= has it, each field quoted. Transfer full. */
static char *spell(const MountRequest *request) {
        static const char *const types[] = { "bind", "tmpfs", "volume", "image", "glob", "ramfs", "devpts" };
        GString *text = g_string_new("type=");
        g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);

        g_string_append(text, types[request->type]);
        if (request->source)
                g_ptr_array_add(fields, g_strconcat("source=", request->source, NULL));
        g_ptr_array_add(fields, g_strconcat("destination=", request->destination, NULL));
        for (guint i = 0; i < request->options->len; i++) {
                const char *option = request->options->pdata[i];
                bool is_tmpfs = request->type == MOUNT_TMPFS &&
                                (g_str_has_prefix(option, "size=") || g_str_has_prefix(option, "mode="));

                g_ptr_array_add(fields, g_strconcat(is_tmpfs ? "tmpfs-" : "", option, NULL));
        }
        if (request->type == MOUNT_TMPFS && !mount_request_has_option(request, "tmpcopyup"))
                g_ptr_array_add(fields, g_strdup("notmpcopyup"));
        if (request->id_map)
                g_ptr_array_add(fields, g_strconcat("idmap", *request->id_map ? "=" : "", request->id_map, NULL));
        if (request->subpath)
                g_ptr_array_add(fields, g_strconcat("subpath=", request->subpath, NULL));
        if (request->overlay)
                g_ptr_array_add(fields, g_strdup("O"));
        if (request->chown)
                g_ptr_array_add(fields, g_strdup("U"));
        if (request->no_copy)
                g_ptr_array_add(fields, g_strdup("nocopy"));
        for (guint i = 0; i < fields->len; i++) {
                g_auto(GStrv) parts = g_strsplit(fields->pdata[i], "\"", -1);
                g_autofree char *quoted = g_strjoinv("\"\"", parts);

                g_string_append_printf(text, ",\"%s\"", quoted);
        }
        return g_string_free(text, FALSE);
}

static void check_request(const MountRequest *request) {
        bool is_path = request->type == MOUNT_BIND || request->type == MOUNT_GLOB;
        bool in_memory = request->type == MOUNT_TMPFS || request->type == MOUNT_RAMFS ||
                         request->type == MOUNT_DEVPTS;

        require(!request->source || !in_memory, "a source where none can be");
        require(request->source || in_memory || request->type == MOUNT_VOLUME, "no source");
        if (is_path)
                require_clean(request->source);
        if (request->type == MOUNT_VOLUME)
                require(!request->source || !strpbrk(request->source, "/:,"), "the volume '%s'", request->source);
        require_clean(request->destination);
        require(!g_str_equal(request->destination, "/"), "a mount on the root");
        require(request->type == MOUNT_RAMFS || request->type == MOUNT_DEVPTS ||
                        mount_request_has_option(request, "ro") != mount_request_has_option(request, "rw"),
                "a mount is read-only or not");
        for (guint i = 0; i < request->options->len; i++)
                require(!strpbrk(request->options->pdata[i], ",\n"), "the option '%s'",
                        (char *) request->options->pdata[i]);
}

static void check(Parse parse, const char *text) {
        g_autoptr(GError) error = NULL;
        g_autoptr(MountRequest) request = parse(text, &error);

        require_error(request, error, text);
        if (!request)
                return;
        check_request(request);
        g_autofree char *spelled = spell(request);
        g_autoptr(MountRequest) again = mount_request_parse_mount(spelled, &error);
        require(again, "%s", error->message);
        g_autofree char *spelled_again = spell(again);
        require(g_str_equal(spelled, spelled_again), "'%s' became '%s'", spelled, spelled_again);
}

/* The source is found in what is no mount, too, and another put in its place. */
static void check_source(const char *text) {
        static const char *const paths[] = { "/plain", "/with,a \"quote\"" };
        g_autofree char *source = mount_request_find_source(text);

        for (size_t i = 0; source && i < G_N_ELEMENTS(paths); i++) {
                g_autofree char *replaced = mount_request_replace_source(text, paths[i]);
                g_autoptr(MountRequest) before = mount_request_parse_mount(text, NULL);
                g_autoptr(MountRequest) after = mount_request_parse_mount(replaced, NULL);

                if (before && before->type == MOUNT_VOLUME)
                        continue; /* a path is none of its names */
                require(!before || (after && g_str_equal(after->source, paths[i])), "'%s' became '%s'", text,
                        replaced);
        }
}

/* What can be read before systemd has expanded a volume is what is read afterwards. */
static void check_sketch(const char *text) {
        g_autoptr(MountRequest) sketch = mount_request_sketch_volume(text);
        g_autoptr(MountRequest) request = mount_request_parse_volume(text, NULL);

        require(sketch->destination, "no destination in '%s'", text);
        require(!request || (!request->source == !sketch->source &&
                             mount_request_has_option(request, "ro") == mount_request_has_option(sketch, "ro")),
                "'%s' is another volume", text);
}

/* All of podman's ways to ask for a mount mean what Mount= can say. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);

        check(mount_request_parse_volume, text);
        check(mount_request_parse_mount, text);
        check(mount_request_parse_tmpfs, text);
        check_source(text);
        check_sketch(text);
        return 0;
}
