/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/device-request.h"
#include "tests/unit/base/parse-tests.h"

static const GoodValue good[] = {
        { "/dev/video0", "/dev/video0 rwm" },
        { "-/dev/video0", "-/dev/video0 rwm" },
        { "/dev/video0:r", "/dev/video0 r" },
        { "/dev/video0:mw", "/dev/video0 mw" },
        { "/dev/video0:/dev/camera", "/dev/video0 /dev/camera rwm" },
        { "-/dev/video0:/camera:rw", "-/dev/video0 /camera rw" },
        { "//dev/./v4l/../video0:/dev//x/", "/dev/video0 /dev/x rwm" },
        { "/dev/a%i$b\"'\\x20", "/dev/a%i$b\"'\\x20 rwm" },
        { "/dev/snd/controlC0", "/dev/snd/controlC0 rwm" },
        { "/dev/snd", "/dev/snd rwm directory char-alsa" },
        { "-/dev/dri/:r", "-/dev/dri r directory char-drm" },
        { "/dev//input/../input:/dev/in:rw", "/dev/input /dev/in rw directory char-input" },
        { "/dev/mapper", "/dev/mapper rwm directory" },
        { "/dev/cameras/:r", "/dev/cameras r directory" },
        { "/dev", "/dev rwm directory" },
        { "/dev/bus/usb/001/", "/dev/bus/usb/001 rwm directory" },
        { "nvidia.com/gpu=0", "nvidia.com/gpu=0 rwm cdi" },
        { "-vendor-1.com/cla_ss=a:b.c-d_e", "-vendor-1.com/cla_ss=a:b.c-d_e rwm cdi" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_USAGE, "the form is" },
        { "-", KT_ERROR_USAGE, "the form is" },
        { "/dev/a:/b:r:w", KT_ERROR_USAGE, "device '/dev/a:/b:r:w': the form is" },
        { ":/b", KT_ERROR_USAGE, "empty" },
        { "video0", KT_ERROR_USAGE, "'video0' is not an absolute path" },
        { "--/dev/a", KT_ERROR_USAGE, "'-/dev/a' is not an absolute path" },
        { "/srv/node", KT_ERROR_USAGE, "'/srv/node' is not below /dev" },
        { "/devices/x", KT_ERROR_USAGE, "not below /dev" },
        { "/dev/../etc/x", KT_ERROR_USAGE, "not below /dev" },
        { "/dev/a b", KT_ERROR_UNSUPPORTED, "blanks" },
        { "/dev/a\tb", KT_ERROR_UNSUPPORTED, "blanks" },
        { "/dev/a:", KT_ERROR_USAGE, "''" },
        { "/dev/a:x", KT_ERROR_USAGE, "'x' is neither" },
        { "/dev/a:rr", KT_ERROR_USAGE, "'rr' is neither" },
        { "/dev/a:rwmr", KT_ERROR_USAGE, "'rwmr' is neither" },
        { "/dev/a:camera", KT_ERROR_USAGE, "'camera' is neither" },
        { "/dev/a:r:w", KT_ERROR_USAGE, "'r' is not an absolute path" },
        { "/dev/a:/", KT_ERROR_USAGE, "cannot be '/'" },
        { "/dev/a:/b:", KT_ERROR_USAGE, "'' are no permissions" },
        { "/dev/a:/b:rx", KT_ERROR_USAGE, "'rx' are no permissions" },
        { "/dev/a:/b:ro", KT_ERROR_USAGE, "'ro' are no permissions" },
        { "nvidia.com/gpu=", KT_ERROR_USAGE, "'nvidia.com/gpu=' is no name of CDI" },
        { "1vidia.com/gpu=0", KT_ERROR_USAGE, "VENDOR/CLASS=NAME" },
        { "nvidia.com/_gpu=0", KT_ERROR_USAGE, "VENDOR/CLASS=NAME" },
        { "nvidia.com/gpu=../0", KT_ERROR_USAGE, "VENDOR/CLASS=NAME" },
        { "nvidia.com=gpu/0", KT_ERROR_USAGE, "VENDOR/CLASS=NAME" },
        { "nvidia.com/gpu/x=0", KT_ERROR_USAGE, "VENDOR/CLASS=NAME" },
        { "nvidia.com/gpu=0:rwm ", KT_ERROR_USAGE, "VENDOR/CLASS=NAME" },
};

/* What is bad with specifiers replaced is so before, too. */
static char *parse(const char *value, GError **error) {
        g_autoptr(DeviceRequest) request = device_request_parse(value, error);
        static const char *const kinds[] = {
                [DEVICE_NODE] = "", [DEVICE_DIRECTORY] = " directory", [DEVICE_CDI] = " cdi"
        };
        g_autoptr(GError) unexpanded = NULL;
        const char *group;

        if (!request) {
                ck_assert_ptr_null(device_request_parse_unexpanded(value, &unexpanded));
                ck_assert_str_eq(unexpanded->message, (*error)->message);
                ck_assert_int_eq(unexpanded->code, (*error)->code);
                return NULL;
        }
        group = device_request_group(request);
        return g_strdup_printf("%s%s %s%s%s%s%s%s", request->optional ? "-" : "", request->source,
                               request->destination ?: "", request->destination ? " " : "", request->access,
                               kinds[request->kind], group ? " " : "", group ?: "");
}

PARSE_TESTS(parse)

START_TEST(test_unexpanded) {
        static const struct {
                const char *value, *source, *destination;
        } rows[] = {
                { "/dev//video0:/dev//x", "/dev/video0", "/dev/x" },
                { "-/dev/%i/../x:/dev/./%i:r", "/dev/%i/../x", "/dev/./%i" },
                { "%f:/dev/camera:w", "%f", "/dev/camera" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autoptr(DeviceRequest) request = device_request_parse_unexpanded(rows[i].value, NULL);

                ck_assert_ptr_nonnull(request);
                ck_assert_str_eq(request->source, rows[i].source);
                ck_assert_pstr_eq(request->destination, rows[i].destination);
        }
}
END_TEST

START_TEST(test_unexpanded_bad) {
        static const struct {
                const char *value;
                ErrorCode code;
                const char *message;
        } rows[] = {
                { "${CAMERA}", KT_ERROR_UNSUPPORTED, "device '${CAMERA}': systemd replaces no variables" },
                { "/dev/video0:${WHERE}", KT_ERROR_UNSUPPORTED, "no variables" },
                { "%i", KT_ERROR_USAGE, "not an absolute path" },
                { "/dev/a:%i", KT_ERROR_USAGE, "'%i' is neither" },
                { "/dev/a:/b:%i", KT_ERROR_USAGE, "'%i' are no permissions" },
                { "%t/x", KT_ERROR_USAGE, "not an absolute path" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autoptr(GError) error = NULL;

                ck_assert_ptr_null(device_request_parse_unexpanded(rows[i].value, &error));
                expect_error(error, rows[i].code, rows[i].message);
        }
        ck_assert_ptr_null(device_request_parse("%f", NULL));
}
END_TEST

TEST_MAIN("device-request", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_unexpanded);
        tcase_add_test(tcase, test_unexpanded_bad);
})
