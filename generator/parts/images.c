/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/parts/image-service.h"
#include "generator/parts/images.h"
#include "generator/unit/file-reference.h"
#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/request/auto-update.h"
#include "libstart/store/reference.h"
#include "libstart/value/go-duration.h"
#include "libstart/value/pull-policy.h"
#include "libstart/value/unit-words.h"

static void set_string(char **field, const char *value) {
        g_free(*field);
        *field = g_strdup(value);
}

bool handle_pull(Conversion *container, const Key *key, const Value *value, GError **error) {
        set_string(&container->image.pull, value->text);
        return pull_policy_check(value->text, error);
}

bool handle_tool_option(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_ptr_array_add(container->image.tool_words, g_strconcat("--", key->text, "=", value->text, NULL));
        return true;
}

bool handle_retry(Conversion *container, const Key *key, const Value *value, GError **error) {
        if (!g_ascii_string_to_unsigned(value->text, 10, 0, G_MAXINT32, NULL, NULL))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no number: how often a pull is tried again",
                                 value->text);
        return handle_tool_option(container, key, value, error);
}

bool handle_retry_delay(Conversion *container, const Key *key, const Value *value, GError **error) {
        guint64 usec;

        return go_duration_parse(value->text, &usec, error) && handle_tool_option(container, key, value, error);
}

bool handle_auto_update(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *label = g_strconcat(AUTO_UPDATE_LABEL "=", value->text, NULL);

        return auto_update_check(value->text, error) && key_set_option(container, "label", label, error);
}

/* The first of several names that a build gives. */
static char *find_name(const SourceFile *source) {
        bool is_build = g_str_has_suffix(source->name, ".build");
        const char *section = name_section(source->name);
        const UnitSection *lines = unit_file_section(source->unit, section);
        g_autofree char *tag = unit_file_value(source->unit, section, "ImageTag"), *image = NULL;

        for (guint i = 0; is_build && lines && i < lines->lines->len; i++) {
                const UnitLine *line = &g_array_index(lines->lines, UnitLine, i);

                if (g_strcmp0(line->key, "ImageTag") == 0 && line->value[0] && !unit_section_takes_back(lines, line))
                        return words_unquote(line->value);
        }
        if (tag || is_build)
                return g_steal_pointer(&tag);
        image = unit_file_value(source->unit, section, section); /* Image= of [Image], Artifact= of [Artifact] */
        return image ? g_strdup(reference_skip_docker(image)) : NULL;
}

/* Not Requires=: a start that fails because of that leaves no reason, and nothing starts it again. As it is, libstart
 * says why the image is not there, and what brings it starts the container once it has it. */
static void wait_for(Conversion *container, const char *unit, const char *policy) {
        g_autofree char *option = g_strconcat(g_strcmp0(policy, "always") == 0 ? "always:" : "", unit, NULL);

        service_order_after(container->service, "Wants", unit);
        (void) key_set_option(container, "image-unit", option, NULL);
}

void image_service(Conversion *container) {
        g_autofree char *status = g_strdup_printf("%d", EXIT_NO_IMAGE);

        if (container->args->image_unit)
                service_set(container->service, "RestartPreventExitStatus", status);
}

/* Transfer full; NULL with an error. */
static char *find_image(Conversion *container, const char *file, FileReference *ret, GError **error) {
        g_autofree char *name = NULL;

        if (!file_reference_find(container, file, ret, error))
                return NULL;
        name = find_name(ret->source);
        if (name)
                return file_reference_expand(ret, name);
        return error_null(error, KT_ERROR_NOT_FOUND, "%s does not say what it brings", ret->source->path);
}

char *image_refer(Conversion *container, const char *file, GError **error) {
        g_auto(FileReference) image = { 0 };
        g_autofree char *policy = NULL, *name = find_image(container, file, &image, error);

        if (!name)
                return NULL;
        if (g_str_has_suffix(image.source->name, ".image"))
                policy = unit_file_value(image.source->unit, "Image", "Policy");
        wait_for(container, image.service, policy);
        return g_steal_pointer(&name);
}

bool image_check_name(const char *name, GError **error) {
        g_autoptr(GError) problem = NULL;
        g_autoptr(Reference) reference = unit_word_is_unexpanded(name) ? NULL : reference_parse(name, &problem);

        if (!g_error_matches(problem, KT_ERROR, KT_ERROR_USAGE))
                return true;
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
}

bool image_is_file(const char *name) {
        return g_str_has_suffix(name, ".image") || g_str_has_suffix(name, ".build");
}

char *image_refer_beside(Conversion *container, const char *image, GError **error) {
        g_auto(FileReference) file = { 0 };
        bool is_file = image_is_file(image) || g_str_has_suffix(image, ".artifact");
        char *name = is_file ? find_image(container, image, &file, error) : g_strdup(image);

        if (name && file.service)
                service_order_after(container->service, "Wants", file.service);
        return name;
}

/* In the service that pulls, what names the container's service is another. */
static bool is_same_there(const char *image, GError **error) {
        for (const char *c = image; (c = strpbrk(c, "%$")); c += 2) {
                if (*c == '$' && c[1] != '$')
                        return error_set(
                                error, KT_ERROR_UNSUPPORTED,
                                "'%s': what pulls it does not know the service's variables; name the image, or "
                                "write Pull=never",
                                image);
                if (*c == '%' && (!c[1] || strchr("jJnNpP", c[1])))
                        return error_set(
                                error, KT_ERROR_UNSUPPORTED,
                                "'%s': what pulls it is another unit, which has another name; write the name as it "
                                "is",
                                image);
        }
        return true;
}

static void make_puller(Conversion *container) {
        const UnitLine *line = conversion_line(container, "Container", "Pull");
        g_autofree char *unit = g_strconcat("keyturn-pull-", container->service->name, NULL);
        g_autofree char *instance = name_is_template(unit) ? name_instance(unit, "%i") : NULL;
        g_autoptr(GError) error = NULL;

        if (container->is_early)
                conversion_problem(container, line,
                                   "Early=yes starts it before there is a network to pull from; write Pull=never");
        if (!name_is_unit(unit))
                conversion_problem(container, line, "'%s', which pulls the image, is too long a name of a unit",
                                   unit);
        if (!is_same_there(container->image.name, &error))
                conversion_problem(container, conversion_line(container, "Container", "Image"), "%s", error->message);
        wait_for(container, instance ?: unit, container->image.pull);
        container->image.puller_unit = unit_file_new();
        container->image.puller = service_new(g_steal_pointer(&unit), container->image.puller_unit);
        image_service_common(container, container->image.puller, IMAGE_PULL_AGAIN);
        if (!container->is_users)
                service_confine_to_store(container->image.puller);
        image_service_pull(container, container->image.puller);
        if (g_str_equal(container->image.pull, "missing"))
                set_string(&container->image.wanted, container->image.name);
}

/* DefaultPull=, for a file that says nothing itself. */
static void find_default(Conversion *container) {
        const char *value, *origin;

        /* What is wrong with keyturn.conf is said by others. */
        if (!container->image.pull && keyturn_conf_default(container->conf, SETTING_PULL, &value, &origin, NULL)) {
                container->image.pull = g_strdup(value);
                if (!g_str_equal(value, "never"))
                        service_comment(container->service, "Pull=%s, from %s: the file itself does not say.", value,
                                        origin);
        }
}

static const UnitLine *find_auto_update(const Conversion *container) {
        return conversion_line(container, "Container", "AutoUpdate") ?:
                       conversion_line_with(container, "Container", "Label", AUTO_UPDATE_LABEL "=");
}

static void check_auto_update(Conversion *container) {
        const UnitLine *line = find_auto_update(container);
        const char *policy = auto_update_find(container->args->labels);
        g_autoptr(Reference) reference = NULL;

        if (!policy)
                return;
        if (!container->image.name) {
                if (container->image.rootfs)
                        conversion_problem(container, line, "there is no image to update: Rootfs= is given");
                return;
        }
        container->image.is_updated = true;
        if (g_str_equal(policy, "local") || unit_word_is_unexpanded(container->image.name) ||
            !(reference = reference_parse(container->image.name, NULL)))
                return;
        if (reference->digest || !reference->repository)
                conversion_warning(container, line, "'%s' can never mean another image, ignoring",
                                   container->image.name);
        else if (reference->is_short)
                conversion_warning(
                        container, line,
                        "'%s' names no registry: it is updated only where registries.conf says which it is",
                        container->image.name);
}

/* She writes what the store says that an image's digest is. */
static bool is_pinned(const Conversion *container) {
        g_autoptr(Reference) reference = container->image.name && !unit_word_is_unexpanded(container->image.name) ?
                                                 reference_parse(container->image.name, NULL) :
                                                 NULL;

        return reference && (reference->digest || reference->id);
}

/* Who has the store has images brought there, which is no matter of the system's: what runs as root must not. */
static void check_users_store(Conversion *container, const UnitLine *pull) {
        if (container->image.is_updated)
                conversion_problem(container, find_auto_update(container),
                                   "the image is looked for in a user's store (Store=user), where that user updates "
                                   "it: leave out one of the two");
        if (container->image.pull && !g_str_equal(container->image.pull, "never"))
                conversion_problem(
                        container, pull,
                        "the image is looked for in a user's store (Store=user), to which that user pulls it: "
                        "write Pull=never, or leave out one of the two");
        if (container->image.is_made)
                conversion_problem(container, conversion_line(container, "Keyturn", "Store"),
                                   "another file brings the image into the system's store, and the user's would hide "
                                   "it: leave it out, or name the image in Image=");
        else if (is_pinned(container))
                conversion_problem(container, conversion_line(container, "Container", "Image"), "%s",
                                   IMAGE_PINS_NOTHING);
        if (container->is_early)
                conversion_problem(container, conversion_line(container, "Keyturn", "Store"),
                                   "Early=yes starts it before homes are there: leave out one of the two");
}

void image_finish(Conversion *container) {
        const UnitLine *line = conversion_line(container, "Container", "Pull");

        check_auto_update(container);
        if (launch_args_has_users_store(container->args))
                check_users_store(container, line);
        if (!container->image.name || container->is_refused)
                return;
        if (container->image.is_made) {
                if (container->image.pull && !g_str_equal(container->image.pull, "never") &&
                    !g_str_equal(container->image.pull, "missing"))
                        conversion_problem(container, line,
                                           "the image is brought by another file: write Policy= in the .image file");
                return;
        }
        if (!launch_args_has_users_store(container->args))
                find_default(container);
        if (container->image.pull && !g_str_equal(container->image.pull, "never"))
                make_puller(container);
}
